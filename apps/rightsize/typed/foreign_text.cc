#include "rightsize/typed/foreign_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/yaml.h"
#include "rightsize/typed/lists.h"

namespace rightsize::app {
namespace {

using Words = std::vector<std::string>;

// Keys under which tools keep a command line or a part of one.
constexpr std::string_view kCommandKeys = "command args entrypoint extra-args run script cmd";

bool is_identifier(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 && text[0] != '-' &&
         std::ranges::all_of(text, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '+' || c == '-';
         });
}

// ---- command lines

// The words of a shell line, up to the end of its first command list: quotes are removed.
Words shell_words(std::string_view line) {
  Words words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c, in_word = true;
    } else if (c == '\\' && i + 1 < line.size()) {
      if (line[++i] != '\n') word += line[i], in_word = true;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == ';' || c == '|' || c == '&') {
      if (in_word || !word.empty()) words.push_back(word);
      word.clear(), in_word = false;
    } else {
      word += c, in_word = true;
    }
  }
  if (in_word || !word.empty()) words.push_back(word);
  return words;
}

void name_program(const std::string& word, Entries& entries) {
  const NameRow* program = program_named(word);
  if (program == nullptr) return;
  entries.emplace_back("job", program->meant);
  if (!program->more.empty()) entries.emplace_back("stack", program->more);
  entries.emplace_back("file.program", program->names);
}

// "vllm serve X --tensor-parallel-size 2", "torchrun train.py --bf16", "main_ppo data.train_batch_size=1024": the
// program, its model, and each flag with its value.
void read_words(const Words& words, Entries& entries) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    const bool follows = i + 1 < words.size() && !is_flag_word(words[i + 1]) && !words[i + 1].empty();
    const bool starts = (word == "serve" || word.ends_with("trtllm-serve")) && follows && words[i + 1] != "serve";
    name_program(word, entries);
    if (starts) entries.emplace_back("model", words[i += words[i + 1] == "api_server" && i + 2 < words.size() ? 2 : 1]);
    if (word == "-m" && i > 0 && words[i - 1].find("llama-") == word.npos) continue;  // python -m MODULE
    const std::size_t begin = word.find_first_not_of('-');
    if (begin == word.npos) continue;
    if (begin > 0) {
      const std::string name = plain_key(word.substr(begin, equals == word.npos ? equals : equals - begin));
      entries.emplace_back(name, equals != word.npos ? word.substr(equals + 1) : follows ? words[i + 1] : "true");
      if (equals == word.npos && follows) ++i;
    } else if (equals != word.npos && is_identifier(std::string_view(word).substr(0, equals))) {
      const std::size_t plus = std::min(word.find_first_not_of('+'), equals);  // hydra: +a.b=c adds a key
      entries.emplace_back(plain_key(word.substr(plus, equals - plus)), word.substr(equals + 1));
    } else if (!starts && (word.ends_with(".yaml") || word.ends_with(".yml"))) {
      entries.emplace_back("config", word);  // llamafactory-cli train FILE
    }
  }
}

constexpr std::size_t kLongestText = 1U << 20;  // X=$X$X doubles with each line

// Replaces $NAME, ${NAME}, ${NAME[@]} and ${NAME:-value}; names that the script does not set stay.
std::string with_values(std::string_view line, const std::map<std::string, std::string>& values) {
  std::string out;
  for (std::size_t i = 0; i < line.size() && out.size() < kLongestText; ++i) {
    const bool braces = line[i] == '$' && i + 1 < line.size() && line[i + 1] == '{';
    std::size_t end = i + (braces ? 2 : 1);
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_')) ++end;
    const std::string name(line.substr(std::min(i + (braces ? 2 : 1), line.size()), end - i - (braces ? 2 : 1)));
    if (line[i] != '$' || name.empty()) {
      out += line[i];
      continue;
    }
    const std::size_t close = braces ? std::min(line.find('}', end), line.size() - 1) : end - 1;
    const auto value = values.find(name);
    std::string_view otherwise = line.substr(end, close > end ? close - end : 0);
    // "${NAME[@]}" is several words, in quotes too.
    const bool words = value != values.end() && (otherwise == "[@]" || otherwise == "[*]");
    const bool quoted = words && out.ends_with('"') && close + 1 < line.size() && line[close + 1] == '"';
    if (quoted) out.pop_back();
    if (value != values.end())
      out += value->second;
    else if (otherwise.starts_with(":-") || otherwise.starts_with(":="))
      out += otherwise.substr(2);
    else
      out += line.substr(i, close + 1 - i);
    i = close + (quoted ? 1 : 0);
  }
  return out;
}

bool launches(const Words& words) {
  return std::ranges::any_of(words, [&](const std::string& word) {
    const std::string name = word.substr(word.rfind('/') + 1);
    return lists_word(listed("launchers"), name) || name.starts_with("python") || name.ends_with(".py");
  });
}

// Batch scripts, shell scripts and Dockerfiles: directives, and the commands that launch something.
Entries read_script(std::string_view text) {
  Entries entries;
  std::map<std::string, std::string> values;
  std::string joined, array;  // the line before, the name of an open array
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = trim(text.substr(at, end - at));
    at = end + 1;
    if (line.starts_with("#SBATCH")) {
      Entries directives;
      read_words(shell_words(line.substr(7)), directives);
      for (auto& [key, value] : directives) entries.emplace_back("sbatch." + key, value);
      continue;
    }
    if (line.starts_with('#') || line.empty()) continue;
    // An array, which may have many lines: ARGS=(--bf16 true), ARGS+=(...).
    if (const std::size_t opens = line.find("=("); array.empty() && opens != line.npos) {
      const bool adds = opens > 0 && line[opens - 1] == '+';
      const std::string_view name = line.substr(0, opens - (adds ? 1 : 0));
      if (is_identifier(name)) array = name, line.remove_prefix(opens + 2);
      if (is_identifier(name) && !adds) values[array].clear();
    }
    if (!array.empty()) {
      line = trim(line.substr(0, line.find(" #")));
      const bool ends = std::ranges::count(line, ')') > std::ranges::count(line, '(');
      if (ends) line = line.substr(0, line.rfind(')'));
      const std::string words = with_values(line, values);
      if (std::string& all = values[array]; all.size() < kLongestText) all += " " + words;
      if (ends) array.clear();
      continue;
    }
    if (line.ends_with('\\')) {
      joined += std::string(trim(line.substr(0, line.size() - 1))) + " ";
      continue;
    }
    std::string whole = with_values(joined + std::string(line), values);
    joined.clear();
    // Dockerfiles: CMD ["vllm", "serve"], ENV NAME=value.
    for (const std::string_view keyword : {"CMD ", "ENTRYPOINT ", "ENV ", "ARG ", "export "}) {
      if (!whole.starts_with(keyword)) continue;
      whole = whole.substr(keyword.size());
      if (trim(whole).starts_with('['))
        std::ranges::replace_if(
            whole, [](char c) { return c == '[' || c == ']' || c == ','; }, ' ');
      if (keyword == "CMD " || keyword == "ENTRYPOINT ") whole = "docker " + whole;
    }
    if (whole.starts_with("FROM ")) name_program(whole.substr(5), entries);
    const Words words = shell_words(whole);
    for (const std::string& word : words) {
      const std::size_t equals = word.find('=');
      if (equals == word.npos || !is_identifier(std::string_view(word).substr(0, equals)) ||
          word.substr(0, equals).find_first_of(".-+") != word.npos)
        break;
      values[word.substr(0, equals)] = word.substr(equals + 1);
    }
    if (launches(words)) read_words(words, entries);
  }
  return entries;
}

// ---- structured text

void flatten(const YamlValue& value, const std::string& name, Entries& entries);

void flatten_mapping(const YamlValue& value, const std::string& name, Entries& entries) {
  // Kubernetes: the variables of a container.
  const YamlValue* variable = value.find("name");
  const YamlValue* content = value.find("value");
  if (variable != nullptr && content != nullptr && content->kind == YamlValue::Kind::kScalar &&
      value.mapping.size() == 2) {
    entries.emplace_back(name + "." + plain_key(variable->scalar), content->scalar);
    return;
  }
  // The words of one command line are under several keys.
  Words words;
  std::string script;
  for (const auto& [key, inner] : value.mapping) {
    if (!lists_word(kCommandKeys, plain_key(key.scalar))) continue;
    for (const YamlValue& word : inner.kind == YamlValue::Kind::kList ? inner.list : std::vector{inner}) {
      // Flags, one per line, belong to one command; other lines are a script.
      if (word.scalar.find('\n') != std::string::npos && !trim(word.scalar).starts_with('-')) {
        script += word.scalar + "\n";
        continue;
      }
      for (std::string& part : shell_words(word.scalar)) words.push_back(std::move(part));
    }
  }
  read_words(words, entries);
  for (auto& entry : read_script(script)) entries.push_back(std::move(entry));
  for (const auto& [key, inner] : value.mapping) {
    const std::string plain = plain_key(key.scalar);
    if (plain == "image") name_program(inner.scalar, entries);
    const bool command = lists_word(kCommandKeys, plain) && inner.kind != YamlValue::Kind::kMapping;
    if (!command) flatten(inner, name.empty() ? plain : name + "." + plain, entries);
  }
}

void flatten(const YamlValue& value, const std::string& name, Entries& entries) {
  if (value.kind == YamlValue::Kind::kMapping) {
    flatten_mapping(value, name, entries);
  } else if (value.kind == YamlValue::Kind::kList) {
    std::string all;
    for (const YamlValue& item : value.list) {
      if (item.kind != YamlValue::Kind::kScalar)
        flatten(item, name, entries);
      else
        all += (all.empty() ? "" : ",") + item.scalar;
    }
    if (!all.empty()) entries.emplace_back(name, all);
  } else {
    // Configuration inside a value: `serveConfigV2: |`, the files of a ConfigMap.
    constexpr std::ptrdiff_t kDeepest = 16;
    const std::size_t before = entries.size();
    if (value.scalar.find('\n') != std::string::npos && std::ranges::count(name, '.') < kDeepest) {
      for (const YamlDocument& inner : YamlDocument::parse_all(name, value.scalar).documents) {
        if (inner.root().kind == YamlValue::Kind::kMapping) flatten(inner.root(), name, entries);
      }
    }
    if (entries.size() == before) entries.emplace_back(name, value.scalar);
  }
}

std::string unquoted(std::string_view text) {
  const bool quoted = text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return std::string(quoted ? text.substr(1, text.size() - 2) : text);
}

Entries read_toml(std::string_view text) {
  Entries entries;
  std::string table;
  for (std::string_view line : split_list(text, '\n')) {
    const bool quoted = line.find('"') != line.npos && line.find('#') > line.find('"');
    if (!quoted) line = trim(line.substr(0, line.find('#')));
    const std::size_t equals = line.find('=');
    if (line.starts_with('[') && line.ends_with(']') && equals == line.npos)
      table = plain_key(trim(line.substr(line.starts_with("[[") ? 2 : 1, line.find(']') - 1))) + ".";
    if (line.starts_with('[') || equals == line.npos) continue;
    std::string_view value = trim(line.substr(equals + 1));
    if (value.starts_with('"')) value = value.substr(0, std::min(value.find('"', 1), value.size() - 1) + 1);
    entries.emplace_back(table + plain_key(unquoted(trim(line.substr(0, equals)))), unquoted(value));
  }
  return entries;
}

// Names, numbers, texts in quotes and signs, without comments.
struct Token {
  char kind = 0;  // n: a name; t: a text or a number; otherwise the sign itself
  std::string text = {};
};

std::vector<Token> tokens_of(std::string_view text) {
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  std::vector<Token> tokens;
  for (std::size_t i = 0, end = 0; i < text.size(); i = std::max(i + 1, end)) {
    const char c = text[i];
    end = i + 1;
    if (c == '#') {
      end = std::min(text.find('\n', i), text.size());
    } else if (c == '"' || c == '\'') {
      const std::string mark(text.substr(i).starts_with(std::string(3, c)) ? 3 : 1, c);
      const std::size_t from = end = i + mark.size();
      while (end < text.size() && !text.substr(end).starts_with(mark)) end += text[end] == '\\' ? 2 : 1;
      tokens.push_back({'t', std::string(text.substr(from, end - from))});
      end += mark.size();
    } else if (in_word(c)) {
      while (end < text.size() && in_word(text[end])) ++end;
      const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0;
      tokens.push_back({number ? 't' : 'n', std::string(text.substr(i, end - i))});
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      tokens.push_back({c});
    }
  }
  return tokens;
}

bool is_one_of(char kind, std::string_view signs) { return signs.find(kind) != signs.npos; }

// Protobuf text: name: "x", group { key: value }, list [ { ... }, { ... } ].
Entries read_protobuf(std::string_view text) {
  Entries entries;
  std::vector<std::string> groups;
  std::string key;
  const std::vector<Token> tokens = tokens_of(text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (is_one_of(token.kind, "{[")) groups.push_back(std::exchange(key, {}));
    if (is_one_of(token.kind, "}]") && !groups.empty()) groups.pop_back();
    if (!is_one_of(token.kind, "nt")) continue;
    if (i + 1 < tokens.size() && is_one_of(tokens[i + 1].kind, ":{[")) {
      key = plain_key(token.text);
      continue;
    }
    std::string path;
    for (const std::string& group : groups) path += group.empty() ? "" : group + ".";
    if (key.empty() && path.ends_with('.')) path.pop_back();
    entries.emplace_back(path + key, token.text);
  }
  return entries;
}

// Ollama's Modelfile: FROM name:tag, PARAMETER num_ctx 16384.
Entries read_modelfile(std::string_view text) {
  Entries entries;
  for (const std::string_view line : split_list(text, '\n')) {
    const Words words = shell_words(line);
    if (words.size() > 1 && words[0] == "FROM") entries.emplace_back("model-id", words[1]);
    if (words.size() > 2 && words[0] == "PARAMETER") entries.emplace_back(plain_key(words[1]), words[2]);
  }
  return entries;
}

// ---- Python

// The literals that calls take by name, directly or in a variable, and the model that from_pretrained(), a trainer or
// an engine takes first: SFTConfig(max_length=2048), LoraConfig(r=16), LLM("Qwen/Qwen3-8B", tensor_parallel_size=2).
Entries read_python(std::string_view text) {
  const std::vector<Token> tokens = tokens_of(text);
  std::map<std::string, std::string> variables;
  std::vector<std::string> calls;  // the brackets around a token, with the name of the call
  Entries entries;
  bool adapters = false;
  const auto at = [&](std::size_t i) { return i < tokens.size() ? tokens[i] : Token{}; };
  const auto literal = [&](std::size_t i, bool inside) {
    std::string list;
    for (std::size_t item = i + 1; at(i).kind == '[' && is_one_of(at(item).kind, "t,]"); ++item) {
      if (at(item).kind == ']') return list;
      if (at(item).kind == 't') list += (list.empty() ? "" : ",") + at(item).text;
    }
    const std::string name = at(i).text;
    if (inside && !is_one_of(at(i + 1).kind, ",)]}")) return std::string();
    if (at(i).kind == 't' || lists_word("True False", name)) return name;
    const auto known = variables.find(name);
    return known != variables.end() ? known->second : name.starts_with("torch.") ? name.substr(6) : std::string();
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const std::string name = token.text.substr(token.text.rfind('.') + 1);
    if (is_one_of(token.kind, "([{")) calls.push_back(i > 0 && token.kind == '(' ? tokens[i - 1].text : "");
    if (is_one_of(token.kind, ")]}") && !calls.empty()) calls.pop_back();
    if (token.kind == 'n') name_program(name, entries);
    const bool call = token.kind == 'n' && at(i + 1).kind == '(';
    const bool model = call && (name == "from_pretrained" || name == "LLM" || name.ends_with("Trainer"));
    const bool named = token.kind == 'n' && at(i + 1).kind == '=' && at(i + 2).kind != '=';
    const bool member = token.kind == 't' && at(i + 1).kind == ':';  // of a dictionary
    adapters |= call && lists_word("LoraConfig get_peft_model", name);
    const std::string value = named || member || model ? literal(i + 2, model || !calls.empty()) : std::string();
    if (value.empty()) continue;
    if (calls.empty() && named) variables[token.text] = value;
    if (model) entries.emplace_back("model-name-or-path", value);
    if (!model && !calls.empty())
      entries.emplace_back((calls.back() == "SamplingParams" ? "sampling-params." : "") +
                               plain_key(token.text == "r" ? "lora-r" : token.text),
                           value);
  }
  if (adapters) entries.emplace_back("adapter", "lora");
  return entries;
}

// How many lines have the form of a format.
struct LineForms {
  int all = 0, assigned = 0, mapped = 0, opened = 0;  // key = value; key: value; key { or key [
};

LineForms count_lines(std::string_view text) {
  LineForms forms;
  for (const std::string_view line : split_list(text, '\n')) {
    if (line.starts_with('#')) continue;
    ++forms.all;
    const std::size_t name = std::min(line.find_first_of(" \t=:{["), line.size());
    const bool named = name > 0 && is_identifier(line.substr(0, name));
    const std::string_view rest = trim(line.substr(name));
    forms.assigned +=
        (named && rest.starts_with('=') && rest != line.substr(name)) || (line.starts_with('[') && line.ends_with(']'));
    forms.mapped += named && rest.starts_with(':');
    forms.opened += named && (rest.starts_with('{') || rest.starts_with('['));
  }
  return forms;
}

}  // namespace

const NameRow* program_named(std::string_view word) {
  if (word.starts_with('-') || word.find('=') != word.npos) return nullptr;
  const std::string name = to_lower(word);
  const auto found =
      std::ranges::find_if(names_of("program"), [&](const NameRow& one) { return name.find(one.names) != name.npos; });
  return found == names_of("program").end() ? nullptr : &*found;
}

std::string plain_key(std::string_view key) {
  std::string plain;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const bool upper = std::isupper(static_cast<unsigned char>(key[i])) != 0;
    if (upper && i > 0 && std::islower(static_cast<unsigned char>(key[i - 1])) != 0) plain += '-';
    const bool outer = i == 0 || i + 1 == key.size() || key[i - 1] == '.' || key[i + 1] == '.';  // _component_
    plain += key[i] == '_' && !outer ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(key[i])));
  }
  return plain;
}

Entries read_entries(const std::string& file, const std::string& text) {
  const auto named = [](const char* format, Entries entries) {
    if (!entries.empty()) entries.emplace_back("file.format", format);
    return entries;
  };
  const std::string_view begins = trim(text);
  const LineForms forms = count_lines(begins);
  const bool object = begins.starts_with('{');
  const bool docker = begins.starts_with("FROM ") || begins.find("\nFROM ") != begins.npos;
  if (docker && begins.find("\nPARAMETER ") != begins.npos) return named("modelfile", read_modelfile(begins));
  const bool imports = std::ranges::any_of(split_list(begins, '\n'), [](std::string_view line) {
    return line.starts_with("import ") || (line.starts_with("from ") && line.find(" import ") != line.npos);
  });
  const bool shell = begins.starts_with("#!") && begins.substr(0, begins.find('\n')).find("python") == begins.npos;
  if (imports && !shell && !object) return named("python", read_python(begins));
  if (begins.starts_with("#!") || begins.find("#SBATCH") != begins.npos || docker)
    return named("script", read_script(begins));
  if (!object && forms.assigned > 0 && forms.assigned >= forms.mapped && 2 * forms.assigned >= forms.all)
    return named("toml", read_toml(begins));
  if (!object && forms.opened > 0 && forms.mapped > 0 && !begins.starts_with("---")) {
    if (Entries entries = read_protobuf(begins); !entries.empty()) return named("protobuf", std::move(entries));
  }
  Entries entries;
  const YamlDocument::Several parsed = YamlDocument::parse_all(file, text);
  for (const YamlDocument& document : parsed.documents) {
    if (document.root().kind == YamlValue::Kind::kMapping) flatten(document.root(), "", entries);
  }
  return entries.empty() && !object ? named("script", read_script(begins)) : entries;
}

std::string standard_input() {
  static const bool kKept = [] {
    struct stat input {};
    if (fstat(STDIN_FILENO, &input) != 0 || S_ISREG(input.st_mode)) return S_ISREG(input.st_mode);
    const int copy = S_ISFIFO(input.st_mode) || S_ISSOCK(input.st_mode) ? memfd_create("input", MFD_CLOEXEC) : -1;
    std::array<char, 65536> part{};
    ssize_t size = 0;
    while (copy >= 0 && (size = read(STDIN_FILENO, part.data(), part.size())) > 0)
      if (write(copy, part.data(), static_cast<std::size_t>(size)) != size) break;
    return copy >= 0 && lseek(copy, 0, SEEK_SET) == 0 && dup2(copy, STDIN_FILENO) == STDIN_FILENO && close(copy) == 0;
  }();
  if (kKept) lseek(STDIN_FILENO, 0, SEEK_SET);
  return kKept ? "/dev/stdin" : std::string();
}

}  // namespace rightsize::app
