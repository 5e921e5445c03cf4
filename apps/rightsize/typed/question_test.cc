#include "rightsize/typed/question.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text.h"
#include "catalog/hardware.h"
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/typed/sentence.h"
#include "rightsize/typed/typed.h"
#include "rightsize/typed/typed_testing.h"

namespace rightsize::app {
namespace {

// One of the wordings of "(what|which) GPU (do I|do we) need", at random.
std::string worded(std::string form, Random& random) {
  for (std::size_t close = form.find(')'); close != std::string::npos; close = form.find(')')) {
    const std::size_t open = form.rfind('(', close);
    const std::string inside = form.substr(open + 1, close - open - 1) + "|";
    std::vector<std::string> choices;
    for (std::size_t at = 0; at < inside.size(); at = inside.find('|', at) + 1)
      choices.push_back(inside.substr(at, inside.find('|', at) - at));
    form.replace(open, close - open + 1, choices[static_cast<std::size_t>(random.uniform() * double(choices.size()))]);
  }
  return form;
}

// What is asked for decides the command, and every value that is said arrives. {m}: a model, {g} and {h}: GPUs, {n}: a
// number; @m and @g are their names as flags or words, and what begins with ! is not said.
TEST(Question, IsAnsweredByTheCommandOfItsKindWithEveryValue) {
  struct Form {
    const char* line;
    std::vector<std::string> words;  // the first is the command
  };
  const Form forms[] = {
      // What fits.
      {"(what|which) (GPU|card) do (I|we) need (to run|for) {m}( with ollama| locally| at home|)( at q4|)?",
       {"memory", "@m", "--job=serve"}},
      {"can (I|we) run {m} on {n} {g}?", {"memory", "@m", "--gpu={n}x{g}"}},
      {"(lora|qlora) {m} on {n} {g}, seq 2048( -|,) (does it|will it|would that) fit?",
       {"memory", "@m", "--gpu={n}x{g}", "--seq=2048", "--job=train"}},
      {"(is|are) {n} {g} enough for {m}", {"memory", "@m", "--gpu={n}x{g}"}},
      {"(will|does|can) {m} fit on {n} {g}", {"memory", "@m", "--gpu={n}x{g}"}},
      {"how (big|large) is the (KV cache|kv-cache) of {m} for {n} users", {"memory", "@m", "--concurrency={n}"}},
      {"(how much memory do|how big are|how large are) the weights of {m}( take|) in fp8",
       {"memory", "@m", "--precision=fp8"}},
      {"how (big|large) are the (optimizer states|gradients|activations) of {m}", {"memory", "@m", "--job=train"}},
      {"(what is|what's) the (largest|biggest) model (I can run|that fits) on {n} {g}?", {"models", "--gpu={n}x{g}"}},
      {"(largest|biggest) model (I can|to) fine-tune with (LoRA|lora) on {n} {g}",
       {"models", "--gpu={n}x{g}", "--method=lora"}},
      {"which models can I run on {n} {g}", {"models", "--gpu={n}x{g}"}},
      // What GPUs serve.
      {"how many (|concurrent )(users|requests|streams) can {n} {g} (handle|serve|support) with {m}",
       {"recommend", "@m", "--gpus={n}", "--job=serve"}},
      {"how many (requests|queries) per second can {n} {g} (handle|sustain) with {m}?",
       {"recommend", "@m", "--gpus={n}", "--job=serve"}},
      {"(what is the longest context I can serve {m} with|max context length of {m}|longest context for {m}) on {n} "
       "{g}",
       {"memory", "@m", "--gpu={n}x{g}", "--tp={n}", "--job=serve"}},
      {"{g} or {h} for serving {m}, which is faster and which is cheaper per token",
       {"estimate", "@m", "--sweep=gpu={g},{h}"}},
      {"how (fast|quick) is {m} on {n} {g}", {"estimate", "@m", "--gpu={n}x{g}"}},
      {"how many tokens per day (can|does) {m} generate on {n} {g}", {"estimate", "@m", "--gpu={n}x{g}", "--per=day"}},
      {"how many tokens (an|per) hour does {m} make on {n} {g}?", {"estimate", "@m", "--gpu={n}x{g}", "--per=hour"}},
      {"is {n}00 (Gbit|Gbit/s|Gbps) (ethernet|infiniband) enough to train {m} on {n} {g}", {"estimate", "@m"}},
      {"(do I need|is) NVLink( worth it|) for (training|serving) {m} on {n} {g}", {"estimate", "@m", "--gpu={n}x{g}"}},
      {"{m} (runs out of memory|is OOM) on {n} {g}", {"memory", "@m", "--gpu={n}x{g}"}},
      {"how many {g} do I need for {m}", {"recommend", "@m"}},
      {"what does it cost to run {m} on {n} {g}?", {"recommend", "@m"}},
      {"which GPU is best for {m}", {"recommend", "@m"}},
      {"(difference between|compare) {g} and {h} for (inference of|serving) {m}",
       {"estimate", "@m", "--sweep=gpu={g},{h}"}},
      {"is a {g} (better|faster) than a {h} for {m}?", {"estimate", "@m", "--sweep=gpu={g},{h}"}},
      {"how many (requests|tokens) per second can {n}x {g} (handle|serve) with {m}", {"recommend", "@m", "--gpus={n}"}},
      {"{m}: {n}x {g} or {n}x {h}, which is (cheaper|faster|cheaper per million tokens)?",
       {"estimate", "@m", "--sweep=gpu={n}x{g},{n}x{h}"}},
      {"how many SDXL 1024x1024 images (per|an) hour can {n} {g} (make|create|produce|render)",
       {"estimate", "--resolution=1024x1024", "--gpu={n}x{g}", "--per=hour"}},
      {"{m} on {n} {g} (-|\u2013|\u2014) how fast is it?", {"estimate", "@m", "--gpu={n}x{g}"}},
      {"flux-dev on {n} {g} - how long (per image|does it take per image)?", {"estimate", "--gpu={n}x{g}"}},
      {"(can two 4090s run|max context length on two 4090s for) {m}", {"memory", "@m", "--gpu=2x4090"}},
      {"can {n} {g} (serve|handle) {m} with {n} (concurrent|parallel) (users|requests|streams) at 8k context",
       {"memory", "@m", "--gpu={n}x{g}", "--concurrency={n}", "--isl=7936"}},
      // The time of one item is a limit, that of the work a deadline.
      {"flux-dev images in (under |less than |){n} minutes (each|per image), which GPU?",
       {"recommend", "--ttft-slo={n} minutes", "--rate=1/s"}},
      {"which GPU (makes|renders|creates) (a|one) flux-dev image in under {n} minutes",
       {"recommend", "--ttft-slo={n} minutes", "--rate=1/s"}},
      {"how (many kWh|much energy|much electricity) does it take to train {m} on {n}B tokens with {n} {g}",
       {"recommend", "@m", "--carbon=region"}},
      // Instance types keep their provider.
      {"how much would a (1|3) year commitment on p4d.24xlarge save( us|)",
       {"commit", "--provider=aws", "--gpu=a100-40gb-sxm"}},
      {"I run {m} on g5.xlarge, would g6.xlarge be cheaper?", {"recommend", "@m", "--instance=g5.xlarge,g6.xlarge"}},
      {"our chatbot runs {m} on {n} {g}, aws (g5|p4d), at 4 requests a second, would {h} be cheaper",
       {"recommend", "@m", "--provider=aws", "--rate=4/s", "--gpu={g},{h}"}},
      {"(notebooks need about {n}0GB each, how many fit on|how many {n}0GB notebooks fit on) one {g}", {"mig", "{g}"}},
      // Regions, sizes, and the terms and times of a demand.
      {"would {n} {g} (in eu-west-1|in us-central1|on-demand in europe-west4) be (faster|cheaper) than {n} {h} for "
       "{m}?",
       {"estimate", "@m", "--sweep=gpu={n}x{g},{n}x{h}"}},
      {"cheapest way to serve {m} at {n} rps (in|on) (eu-west-1|us-central1)", {"recommend", "@m", "--rate={n}/s"}},
      {"(is a 40GB A100 enough for|does an A100 40GB fit) (serving |){m} or do I need the 80GB (one|version|)?",
       {"estimate", "@m", "--sweep=gpu=1xA100-40GB,1xA100-80GB"}},
      {"(can I do|is it possible to do) full fine-tuning of {m} on {n}x A100 40GB(| boxes), or (do I need|should I "
       "take) the 80GB (ones|version)",
       {"estimate", "@m", "--job=train", "--sweep=gpu={n}xA100-40GB,{n}xA100-80GB"}},
      {"(can|could) {m} be (fully fine-tuned|fine-tuned) on {n} {g}", {"memory", "@m", "--gpu={n}x{g}", "--job=train"}},
      {"how long does a QLoRA of {m} on {n}k (examples|rows|pairs|samples) of 500 tokens take on {n} A6000s, 2 epochs",
       {"estimate", "@m", "--method=qlora", "--seq=500", "--gpu={n}xA6000", "--tokens={n}000000"}},
      {"how long does (a LoRA|fine-tuning) of {m} on {n}k (examples|documents) of 900 tokens take on {n} h100-sxm",
       {"recommend", "@m", "--seq=900", "--samples={n}000"}},
      {"(should I reserve|is it worth reserving|commit to|reserve) {n} {g} for a year or (stay on|use) spot",
       {"commit", "--gpu={g}", "--purchase=1y,spot", "--spot-share=1", "--base={n}"}},
      {"(on-demand or reserved|reserved or on-demand|reservation vs on-demand) for {n} {g} that I use 73 hours (a|per|"
       "each) month?",
       {"commit", "--gpu={g}", "--base=0,peak={n},share=0.1"}},
      {"is a 1-year reservation of {n} {g} worth it (if they are busy {n}0% of the time|at {n}0 % utilization)?",
       {"commit", "--gpu={g}", "--purchase=1y", "--base=0,peak={n},share=0.{n}"}},
      {"we transcribe {n} (thousand|million) hours of (audio|calls) (per|a|every) day with whisper large v3, cheapest "
       "GPU?",
       {"recommend", "whisper-large-v3", "--deadline=24h"}},
      {"we (have|own) {n} {g}, how long does (training|a LoRA of) {m} on {n}00M tokens take?",
       {"estimate", "@m", "--gpu={n}x{g}", "--job=train", "--tokens={n}00000000"}},
      {"{m} on {n}x {g} with (tensor parallel|tensor parallelism|tp), how fast is it?",
       {"estimate", "@m", "--gpu={n}x{g}", "--tp={n}"}},
      {"(carbon footprint|how much CO2 do we emit with|electricity) of {n} {g} running for 2 weeks in Germany",
       {"gpus", "{g}", "--gpus={n}", "--carbon=germany", "--hours=336h"}},
      {"where can (I|we) (get|rent) {n} {g} right now under {n}.50 (an hour|per hour) each?",
       {"prices", "{g}", "--max-price={n}.5", "--gpus={n}"}},
      {"how many (LoRA trainings|LoRA fine tunes|fine-tunes) of {m} on {n}M tokens per week can {n} {g} do",
       {"estimate", "@m", "--gpu={n}x{g}", "--per=week", "--job=train", "--tokens={n}000000"}},
      {"how much power does serving {m} on {n} {g} draw", {"estimate", "@m", "--gpu={n}x{g}", "--job=serve"}},
      {"train {m} on {n}00M tokens by (tommorow|tomorow), cheapest GPU", {"recommend", "@m", "--deadline=tomorrow"}},
      {"how many (parameters|layers) does {m} have and how many are active", {"models", "@m"}},
      {"what happens to latency (if we go |)from {n} to {n}4 concurrent users on 1 {g} with {m}",
       {"estimate", "@m", "--sweep=concurrency={n},{n}4"}},
      {"what speedup do I get from 2 to {n} gpus when training {m} on h100-sxm",
       {"estimate", "@m", "--sweep=gpus=2,{n}", "--job=train"}},
      {"is {n} days enough to (train|pretrain) {m} on {n}0B tokens with {n} {g}",
       {"estimate", "@m", "--gpu={n}x{g}", "--tokens={n}0000000000"}},
      {"(which|what) is the most energy efficient GPU for serving {m}", {"recommend", "@m", "--objective=energy"}},
      {"serve {m} for {n}00 concurrent users, which gpu and cost per month", {"recommend", "@m", "--job=serve"}},
      {"(please |)how (much GPU is need|many GPUs do we need) for {m} when 200 users chat at the same time and it must "
       "not be slow",
       {"recommend", "@m", "--job=serve"}},
      {"compare {g} vs {h} for training {m} on {n}00B tokens in {n} months",
       {"recommend", "@m", "--gpu={g},{h}", "--tokens={n}00000000000", "--deadline={n} months"}},
      {"how many (tokens/s|tok/s|tokens per second) does {m} do on a {g}, one user?",
       {"estimate", "@m", "--job=serve"}},
      {"{m}: 3 requests per second, avg 900 in 250 out, is self hosting cheaper than an API at 0.{n} per million "
       "tokens?",
       {"recommend", "@m", "--isl=900", "--osl=250", "--api-price=0.{n}", "!--latency-slo"}},
      {"(can|could) I pretrain gpt2 on {n}B tokens on my RTX 4070 in a week?",
       {"estimate", "--gpu=1xRTX-4070", "--tokens={n}000000000"}},
      {"cheapest {n}x{g} node (incl|including) spot", {"prices", "{g}", "--purchase=on-demand,spot"}},
      {"how big is a checkpoint of {m} on disk", {"recommend", "@m"}},
      // Phrases.
      {"(we have $30k of credits|with a budget of $30k), how (long|many hours) can (we run|I rent) {n} {g}?",
       {"prices", "{g}", "--budget=30000", "--gpus={n}"}},
      {"our {n} {g} are (idle|unused) 40% of the time, what does that cost us a month",
       {"prices", "{g}", "--hours=292h"}},
      {"my {n} {g} run at 35% (gpu utilization|utilization) at $2/h, how much am I wasting per month",
       {"prices", "{g}", "--hours=474.5h", "--price"}},
      {"can I run {n} (copies|instances|replicas) of bge-m3 on one h100-sxm with MIG", {"mig", "h100-sxm"}},
      {"cheapest 4090 per hour in europe", {"prices", "4090"}},
      {"how many (chats|requests) of 8k context fit {m} on {n} {g}", {"memory", "@m", "--gpu={n}x{g}", "--job=serve"}},
      {"(cost|price|monthly bill) (of serving|to serve|for serving) {m} at {n} requests per second",
       {"recommend", "@m", "--rate={n}/s", "--job=serve"}},
      {"(time|cost) to (train|fine tune|fine-tune) {m} on {n}B tokens (using|with) {n} {g}",
       {"recommend", "@m", "--gpu={n}x{g}", "--job=train"}},
      {"(tokens per second|throughput|latency|speed) of {m} on {n} (|x ){g}", {"estimate", "@m", "--gpu={n}x{g}"}},
      {"(vram|memory) (needed |)for (fine tuning|training) {m}", {"memory", "@m", "--job=train"}},
      {"(fit|fitting) {m} on {n} {g}?", {"memory", "@m", "--gpu={n}x{g}", "--job=serve"}},
      {"(maximum batch size|vram) for fine tuning {m} with lora rank 16 on {n} {g}",
       {"memory", "@m", "--gpu={n}x{g}", "--lora-rank=16", "--job=train"}},
      {"should we (move|switch|migrate|upgrade) from {g} to {h} for training {m}?",
       {"estimate", "@m", "--job=train", "--sweep=gpu={g},{h}"}},
      {"how many embeddings per second can {n} {g} do with bge-large at {n}28 tokens",
       {"estimate", "--gpu={n}x{g}", "--isl={n}28"}},
      {"(power draw|energy) of {n} {g} training {m} for 2 weeks", {"gpus", "{g}", "--gpus={n}", "--hours=336h"}},
      {"how much would we save by switching {n} (always-on|idle) {g} servers to spot?",
       {"prices", "spot", "{g}", "--gpus={n}"}},
      {"what do {n} {g} cost per month with a (1|3) year commitment", {"prices", "{g}", "--gpus={n}", "--hours=730h"}},
      {"price difference between {g} and {h} on azure", {"prices", "compare", "{g}", "{h}", "--provider=azure"}},
      {"is {m} on {g} cheaper than an api at $0.{n} per million?", {"recommend", "@m", "--api-price=0.{n}"}},
      // What runs today is not a limit.
      {"we (run|currently run|have) {m} on {n} {g} at {n} requests per second. what would be cheaper?",
       {"recommend", "@m", "--rate={n}/s", "!--gpu"}},
      {"We run {m} on {n} {g} on AWS at 3 requests per second and almost nothing at night. What should we change to "
       "pay "
       "less?",
       {"recommend", "@m", "--rate=3/s", "--provider=aws", "!--gpu"}},
      {"(which|what) qwen (model|models) (fits|can I run) on {n} {g}", {"models", "qwen", "--gpu={n}x{g}"}},
      {"train {m} on {n}00M tokens for 500 dollars, {n} days",
       {"recommend", "@m", "--budget=$500", "--deadline={n} days"}},
      // Limits of prices.
      {"(list every cloud that has|which clouds have|which providers offer) {g} on demand under ${n} (an|per) hour",
       {"prices", "{g}", "--purchase=on-demand", "--max-price={n}", "--best-per=provider"}},
      {"(cheapest |){g} (below|under|for at most) {n} dollars per hour", {"prices", "{g}", "--max-price={n}"}},
      {"rank (providers|clouds) by {g} price, reserved 1 year",
       {"prices", "{g}", "--purchase=reserved", "--best-per=provider"}},
      {"gpu with at least {n}8gb vram under {n} dollars per hour",
       {"prices", "--min-memory={n}8gb", "--max-price={n}", "--best-per=gpu"}},
      {"{g} availability in europe", {"prices", "{g}", "--region=europe"}},
      {"can {n} {g} hold {m} in fp8", {"memory", "@m", "--gpu={n}x{g}"}},
      {"throughput of {m} at batch {n}4 on {g} with sglang", {"estimate", "@m", "--gpu={g}", "--stack=sglang"}},
      {"run {n} million inferences of bert-large, 128 tokens each, what's the cheapest gpu",
       {"recommend", "bert-large", "--items={n}000000", "--isl=128"}},
      {"we want to do RLHF (GRPO) on {m}, {n} samples per prompt, 1000 steps",
       {"recommend", "@m", "--algorithm=grpo", "--steps=1000"}},
      // Alternatives are a table, and a size next to a name scales the model.
      {"what's the tokens/sec difference between fp8 and bf16 for {m} on {n} {g}",
       {"estimate", "@m", "--precision=fp8", "--sweep=precision=fp8,bf16"}},
      {"how much would it cost to pretrain a {n}B (parameter |)gpt2 (style |)model on {n}B tokens",
       {"recommend", "--model={n}B like gpt2", "--job=train"}},
      {"how many {g} do I need for deepseek r1 671b", {"recommend", "deepseek-r1"}},
      // Prices. "us" after a verb is a pronoun.
      {"what (does|would) {n} {g} cost us (for a week |)in frankfurt",
       {"prices", "{g}", "--region=frankfurt", "--gpus={n}"}},
      {"tell us the price of {g} in (the |)us", {"prices", "{g}", "--region=us"}},
      {"what is the price of {g}", {"prices", "{g}"}},
      {"what do {n} {g} cost for {n} (weeks|hours)", {"prices", "{g}", "--gpus={n}"}},
      {"what do {n} {g} cost for {n} hours every (night|day)", {"prices", "{g}", "--gpus={n}"}},
      {"(is it cheaper to|should we) rent {n} {g} for a year or (to |)buy them (at|for) {n}0000 dollars",
       {"prices", "buy", "--on-prem={n}x{g}={n}0000USD", "--gpus={n}", "--hours=8760h"}},
      {"how much (would|do) we save on spot instead of on-demand with {n} {g} for {n} hours",
       {"prices", "spot", "{g}", "--gpus={n}", "--hours={n}h"}},
      {"how much (electricity|power|energy) do {n} {g} use at 0.{n} dollars per kWh",
       {"gpus", "{g}", "--gpus={n}", "--kwh-price=0.{n}"}},
      // A number before a model counts copies, a rate after it does not.
      {"(host|run) (3|3x|three) whisper-small and bge-large on one a100 with mig",
       {"mig", "whisper-small,whisper-small,whisper-small,bge-large"}},
      {"(host|run) bert-large {n}0/s, bge-large 30/s and bert-base 20/s on one a100 with mig",
       {"mig", "bert-large,bge-large,bert-base"}},
      {"(what|which) MIG (profiles|slices) does (a|an) {g} have", {"mig", "{g}"}},
  };
  const std::vector<std::string> gpus{"h100-sxm", "a100-80gb-sxm", "l40s", "rtx-4090", "a10", "mi300x", "h200-sxm"};
  const std::vector<std::string> models{"llama-3.1-8b", "qwen2.5-32b", "mistral-7b", "mixtral-8x7b", "deepseek-v3"};
  Random random(11);
  const auto pick = [&](const auto& list) {
    return list[static_cast<std::size_t>(random.uniform() * static_cast<double>(list.size()))];
  };
  for (const Form& form : forms) {
    for (int i = 0; i < 4; ++i) {
      const std::string model = pick(models), gpu = pick(gpus), other = gpu == "l40s" ? "a10g" : "l40s";
      const std::string number = std::to_string(2 + static_cast<int>(random.uniform() * 7));
      const auto filled = [&](std::string text) {
        for (const auto& [mark, value] :
             {std::pair{"{m}", model}, {"{g}", gpu}, {"{h}", other}, {"{n}", number}, {"@m", model}}) {
          for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark))
            text.replace(at, std::string_view(mark).size(), value);
        }
        return text;
      };
      const std::string line = filled(worded(form.line, random));
      const Typed meant = meant_words({line});
      EXPECT_EQ(meant.words.front(), form.words.front()) << line;
      const std::string shown = fmt::format("{}: {}", line, fmt::join(meant.words, " "));
      EXPECT_FALSE(meant.refusal) << shown;
      // Its own parser accepts it.
      std::vector<std::string> rest(meant.words.begin() + 1, meant.words.end());
      rest.emplace_back("--help");
      EXPECT_TRUE(call(meant.words.front(), rest).error().front().message.starts_with("--help works")) << shown;
      for (const std::string& word : form.words) {
        const std::string wanted = filled(word);
        if (word.starts_with('!')) {
          EXPECT_EQ(typed_value(meant, word.substr(1)), "") << shown;
          continue;
        }
        const bool there = std::ranges::any_of(meant.words, [&](const std::string& one) {
          return one == wanted || (word == "@m" && one == "--model=" + wanted);
        });
        EXPECT_TRUE(there) << wanted << " in " << shown;
      }
    }
  }
}

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '-', ' ');
  return name;
}

// Questions about GPUs alone, for random GPUs in one word or several: the command, and the names it keeps.
TEST(Question, AboutGpusAloneKeepsTheirNames) {
  const std::pair<const char*, const char*> forms[] = {
      {"which is faster for inference, {0} or {1}?", "gpus {0} {1}"},
      {"difference between {0} and {1}", "gpus {0} {1}"},
      {"is a {0} better than a {1}", "gpus {0} {1}"},
      {"{0} vs {1} please", "gpus {0} {1}"},
      {"compare {0} and {1}", "gpus {0} {1}"},
      {"which is cheaper, {0} or {1}?", "prices compare {0} {1}"},
      {"is spot worth it for {0}", "prices spot {0}"},
      {"should I use spot or on-demand for {0}", "prices spot {0}"},
      {"cheapest {0} in europe", "prices {0} in europe"},
      {"we pay $3.90 per hour for each {0}, are we overpaying?", "prices --paid=3.9 {0}"},
      {"why is my {0} gpu idle", "profile"},
      {"why is my training slow on {0}", "profile"},
      {"training is slow on {0}", "profile"},
      {"slow training on {0}", "profile"},
      {"my {0} utilization is stuck at 35%, what should I check", "profile"},
      {"my training is slow on {0}, where is the bottleneck", "profile"},
  };
  const Checked<catalog::Catalog> facts = catalog::load_hardware("");
  ASSERT_TRUE(facts);
  Random random(12);
  const auto pick = [&] {
    return facts->gpus[static_cast<std::size_t>(random.uniform() * static_cast<double>(facts->gpus.size()))].name;
  };
  for (int i = 0; i < 40; ++i) {
    const std::string one = pick(), other = pick();
    const bool apart = gpu_words(words_in(spaced(one)), 0) == words_in(spaced(one)).size() &&
                       gpu_words(words_in(spaced(other)), 0) == words_in(spaced(other)).size();
    if (one == other) continue;
    for (const auto& [form, meant] : forms) {
      const std::string line =
          fmt::format(fmt::runtime(form), apart ? spaced(one) : one, apart ? spaced(other) : other);
      Typed typed{split_sentences({line})};
      answer_question(typed);
      const std::vector<std::string>& words = typed.words;
      std::vector<std::string> wanted = words_in(fmt::format(fmt::runtime(meant), one, other));
      for (const std::string& word : wanted)
        EXPECT_TRUE(std::ranges::find(words, word) != words.end()) << line << ": " << word;
      EXPECT_EQ(words.front(), wanted.front()) << line;
    }
  }
}

// A number with any unit is a setting or is named as ignored, but never a model.
TEST(Question, TakesNoNumberForAModel) {
  const char* const forms[] = {
      "spot vs on-demand for a {} training job on 8 A100s, what do I save",
      "what does a {} training job of llama-3.1-8b on 8 H100s cost",
      "my GPU utilization is stuck at {} during training, what should I check first?",
      "how fast is qwen2.5-32b on 2 H100s with {} please",
      "is it cheaper to buy 8 H100s for $260k or to rent them if we use them {} of the time?",
  };
  Random random(13);
  for (const char* form : forms) {
    for (const char* unit :
         {"", "%", " %", " day", "-day", " days", " hour", "-hour", " hours", "h", " week", "-week"}) {
      const std::string number = std::to_string(2 + static_cast<int>(random.uniform() * 60));
      const std::string line = fmt::format(fmt::runtime(form), number + unit);
      const Typed meant = meant_words({line});
      const std::string shown =
          fmt::format("{}: {} ({})", line, fmt::join(meant.words, " "), fmt::join(meant.notes, "; "));
      for (std::size_t i = 1; i < meant.words.size(); ++i)
        EXPECT_FALSE(meant.words[i].starts_with(number) || meant.words[i] == "--model=" + number) << shown;
      const bool hours = shown.find("--hours=") != shown.npos || shown.find("--busy-share=") != shown.npos;
      EXPECT_TRUE(hours || shown.find(number, line.size()) != shown.npos || meant.refusal) << shown;
    }
  }
}

// How long a machine is there, and how much of that it works, are two quantities.
TEST(Question, BuyingKeepsTheTimeApartFromTheUse) {
  for (const int years : {1, 3, 5}) {
    for (const int hours : {6, 14, 18}) {
      const std::string use = fmt::format("--busy-share={:.4g}", hours / 24.0);
      for (const char* form :
           {"rent or buy 8 H100s at 260000 dollars, {} hours a day for {} years",
            "should we buy 8 H100s at 260000 dollars or rent them {} hours every day for {} years"}) {
        const Typed meant = meant_words({fmt::format(fmt::runtime(form), hours, years)});
        const std::string shown = fmt::format("{}", fmt::join(meant.words, " "));
        EXPECT_NE(shown.find(use), shown.npos) << shown;
        EXPECT_NE(shown.find(fmt::format("--hours={}h", years * 8760)), shown.npos) << shown;
      }
    }
  }
}

TEST(Question, LeavesCommandsAlone) {
  for (const std::string& command : command_names()) {
    Typed typed{{command, "llama-3.1-8b", "--gpu", "h100-sxm"}};
    const std::vector<std::string> words = typed.words;
    EXPECT_FALSE(answer_question(typed));
    EXPECT_EQ(typed.words, words);
  }
}

// Every provider, vendor and GPU can be excluded or chosen by a flag with its name.
TEST(Choice, CanBeInTheNameOfAFlag) {
  const auto declared = describe_command("recommend")->flags;
  const Checked<catalog::Catalog> facts = catalog::load_hardware("");
  ASSERT_TRUE(facts);
  std::set<std::string> providers, gpus;
  for (const catalog::Machine& machine : facts->machines) providers.insert(machine.provider);
  for (const catalog::Gpu& gpu : facts->gpus) gpus.insert({gpu.name, to_lower(gpu.vendor)});
  for (const std::string& name : providers) {
    EXPECT_EQ(meant_choice("--no-" + name, declared), "--exclude=" + name);
    EXPECT_EQ(meant_choice("--" + name + "-only", declared), "--provider=" + name);
  }
  for (const std::string& name : gpus) {
    if (catalog::match_providers(name, providers)) continue;  // Google is both a vendor and a provider
    EXPECT_EQ(meant_choice("--without-" + name, declared), "--exclude=" + name);
    EXPECT_EQ(meant_choice("--only-" + name, declared), "--gpu=" + name);
  }
  EXPECT_EQ(meant_choice("--spot-only", declared), "--purchase=spot");
  EXPECT_EQ(meant_choice("--not-provider", declared), "--exclude");
  EXPECT_EQ(meant_choice("--no-such-thing", declared), "");
}

}  // namespace
}  // namespace rightsize::app
