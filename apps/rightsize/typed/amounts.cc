#include "rightsize/typed/amounts.h"

#include <algorithm>
#include <vector>

#include "base/suggest.h"
#include "base/text.h"
#include "rightsize/typed/lists.h"

namespace rightsize::app {
namespace {

// Singular nouns; plurals are derived.
struct Nouns {
  Thing thing;
  std::string_view words;
};
constexpr Nouns kNouns[] = {
    {Thing::kItem,
     "doc document text passage chunk page article email mail ticket sentence paragraph record row file line "
     "transcript "
     "review message comment summary summarie item sample example sequence pair candidate video clip song abstract "
     "paper product job task entry entrie string snippet contract note post tweet"},
    {Thing::kRequest,
     "request req query querie prompt call completion generation inference question answer conversation chat "
     "prediction invocation hit lookup search searche turn stream"},
    {Thing::kToken, "token tok"},
    {Thing::kImage, "image img photo picture frame"},
    {Thing::kUser, "user client person people customer seat employee developer agent"},
};

// Words that do not tell what is counted.
constexpr std::string_view kAmountFillers =
    "num number of n total target expected train training avg average mean max peak count concurrent "
    "simultaneous active input offline batch rate throughput volume";

// The time of "second", "day" or "daily".
std::optional<Seconds> time_named(std::string_view word) {
  const auto once = parse_amount((word.ends_with("ly") ? "1 x " : "1 x per ") + std::string(word));
  return once ? once->per : std::nullopt;
}

struct JobWords {
  std::string_view job, words;  // folded: without case, '-' and '_'
};
constexpr JobWords kJobWords[] = {
    {"train", "train training pretrain pretraining continuedpretraining cpt scratch"},
    {"finetune", "finetune finetuning lora qlora sft tune tuning posttrain posttraining instructiontuning"},
    {"dpo", "dpo ipo kto orpo simpo cpo preferencetuning preferenceoptimization directpreferenceoptimization"},
    {"serve",
     "serve serving inference infer textgeneration rag chat online realtime chatbot api deploy deployment host hosting "
     "llm "
     "completion generation generate production decode prefill"},
    {"batch",
     "batch offline batchinference offlineinference bulk batchprocessing processing summarize summarization "
     "classify classification labeling labelling annotate annotation synthetic syntheticdata textclassification "
     "datagen extraction translate ocr "
     "translation"},
    {"embed",
     "embed embedding embeddings vectorize vectorization indexing encode encoding featureextraction sentencesimilarity "
     "textembedding"},
    {"rerank", "rerank reranking reranker rank ranking"},
    {"image", "image images imagegeneration imagegen txt2img text2image texttoimage diffusion"},
    {"video", "video videos videogeneration videogen txt2video text2video texttovideo"},
    {"transcribe", "transcribe transcription automaticspeechrecognition asr stt speechtotext speech audio"},
    {"rl", "rl rlhf grpo ppo dapo rloo reinforcement reinforcementlearning"},
};

}  // namespace

Thing thing_of(std::string_view noun) {
  const std::string lower = to_lower(noun);
  for (const Nouns& row : kNouns) {
    if (lists_word(row.words, lower)) return row.thing;
    if (lower.size() > 3 && lower.ends_with('s') &&
        lists_word(row.words, std::string_view(lower).substr(0, lower.size() - 1)))
      return row.thing;
  }
  return Thing::kNone;
}

std::optional<WorkFlag> read_work_flag(std::string_view flag) {
  while (flag.starts_with('-')) flag.remove_prefix(1);
  const std::string lower = to_lower(flag);
  WorkFlag work;
  if (lower == "rps" || lower == "qps" || lower == "rpm" || lower == "qpm" || lower == "rph" || lower == "rpd" ||
      lower == "tps" || lower == "tpm") {
    const std::optional<Amount> short_form = parse_amount("1 " + lower);
    return WorkFlag{thing_of(short_form->thing), short_form->per};
  }
  if (lower == "hours-of-audio" || lower == "hours-audio") return WorkFlag{Thing::kAudioHour, {}};
  std::string spaced = lower;
  std::replace(spaced.begin(), spaced.end(), '_', '-');
  const std::vector<std::string_view> words = split_list(spaced, '-');
  bool audio = false, hours = false, plural = false, rate = false, together = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "per" && i + 2 == words.size()) {
      work.per = time_named(words[i + 1]);
      // --requests-per-user and similar flags are not rates.
      if (!work.per) return std::nullopt;
      break;
    }
    if (word == "audio" || word == "speech") {
      audio = true;
    } else if (audio && (word == "hours" || word == "hour")) {
      hours = true;
    } else if (word.ends_with("ly") && time_named(word)) {
      work.per = time_named(word);
    } else if (const Thing thing = thing_of(word); thing != Thing::kNone) {
      if (work.thing != Thing::kNone) return std::nullopt;
      work.thing = thing;
      plural = word.ends_with('s') || word == "people" || word == "tok";
    } else if (!lists_word(kAmountFillers, word)) {
      return std::nullopt;
    }
    rate |= word == "rate" || word == "throughput";
    together |= word == "concurrent" || word == "simultaneous";
  }
  if (rate && !work.per) work.per = seconds(1);
  if (lower == "throughput") work.thing = Thing::kToken;
  // --file and --task are not amounts, and concurrent requests are not a rate.
  if (!audio && !plural && !work.per) return std::nullopt;
  if (together && work.thing != Thing::kUser) return std::nullopt;
  if (audio) {
    if (!hours || work.thing != Thing::kNone) return std::nullopt;
    work.thing = Thing::kAudioHour;
  }
  // --input-tokens and --max-tokens are lengths and limits of a request, --batch-... of an engine.
  const bool length =
      work.thing == Thing::kToken && (words.front() == "max" || words.front() == "input" || words.front() == "batch" ||
                                      words.front() == "avg" || words.front() == "mean" || words.front() == "average");
  if (work.thing == Thing::kNone || length) return std::nullopt;
  return work;
}

std::string job_of(std::string_view word) {
  const std::string folded = fold_name(word);
  for (const JobWords& row : kJobWords) {
    if (lists_word(row.words, folded)) return std::string(row.job);
  }
  return {};
}

}  // namespace rightsize::app
