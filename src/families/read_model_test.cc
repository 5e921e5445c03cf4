#include "families/read_model.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/suggest.h"

namespace rightsize::model {
namespace {

Checked<ModelShape> read(std::string text) { return read_model("config.json", std::move(text)); }

std::int64_t count(std::string text) {
  Checked<ModelShape> shape = read(std::move(text));
  EXPECT_TRUE(shape) << describe(shape.error());
  return shape ? shape->parameters() : 0;
}

std::string errors_of(std::string text) {
  Checked<ModelShape> shape = read(std::move(text));
  return shape ? std::string() : describe(shape.error());
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Parameter counts from torch for classes other than those of the presets.
struct Known {
  const char* name;
  const char* config;
  std::int64_t parameters;
};

class KnownCount : public testing::TestWithParam<Known> {};

TEST_P(KnownCount, MatchesThePublishedParameterCount) { EXPECT_EQ(count(GetParam().config), GetParam().parameters); }

constexpr const char* kBertBase = R"("model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12)";
const std::string kBertModel = fmt::format(R"({{"architectures": ["BertModel"], {}}})", kBertBase);
const std::string kBertPreTraining = fmt::format(R"({{"architectures": ["BertForPreTraining"], {}}})", kBertBase);
const std::string kBertTokens =
    fmt::format(R"({{"architectures": ["BertForTokenClassification"], {}, "num_labels": 9}})", kBertBase);
const std::string kBertQuestions = fmt::format(R"({{"architectures": ["BertForQuestionAnswering"], {}}})", kBertBase);
const std::string kBertDefault = fmt::format(R"({{{}}})", kBertBase);

INSTANTIATE_TEST_SUITE_P(
    Heads, KnownCount,
    testing::Values(
        Known{"BertModel", kBertModel.c_str(), 109'482'240},
        Known{"BertForPreTraining", kBertPreTraining.c_str(), 110'106'428},
        // 109,482,240 less the pooler (768 x 768 + 768) plus 9 x 768 + 9
        Known{"BertForTokenClassification", kBertTokens.c_str(), 108'898'569},
        Known{"BertForQuestionAnswering", kBertQuestions.c_str(), 108'893'186},
        Known{"BertWithoutArchitecture", kBertDefault.c_str(), 109'514'298},
        Known{"RobertaModel",
              R"({"architectures": ["RobertaModel"], "model_type": "roberta", "hidden_size": 768,
                  "num_hidden_layers": 12, "max_position_embeddings": 514, "type_vocab_size": 1})",
              124'645'632},
        Known{"RobertaForSequenceClassification",
              R"({"architectures": ["RobertaForSequenceClassification"], "model_type": "roberta", "hidden_size": 768,
                  "num_hidden_layers": 12, "max_position_embeddings": 514, "type_vocab_size": 1})",
              124'647'170},
        Known{"XlmRobertaBase",
              R"({"architectures": ["XLMRobertaForMaskedLM"], "model_type": "xlm-roberta", "hidden_size": 768,
                  "num_hidden_layers": 12, "max_position_embeddings": 514, "type_vocab_size": 1,
                  "vocab_size": 250002})",
              278'295'186},
        Known{"DistilBertModel",
              R"({"architectures": ["DistilBertModel"], "model_type": "distilbert", "dim": 768, "n_layers": 6})",
              66'362'880},
        Known{"DistilBertForSequenceClassification",
              R"({"architectures": ["DistilBertForSequenceClassification"], "model_type": "distilbert", "dim": 768,
                  "n_layers": 6})",
              66'955'010},
        Known{"VitModel",
              R"({"architectures": ["ViTModel"], "model_type": "vit", "hidden_size": 768, "num_hidden_layers": 12})",
              86'389'248},
        Known{"DeitBaseDistilled",
              R"({"architectures": ["DeiTForImageClassification"], "model_type": "deit", "hidden_size": 768,
                  "num_hidden_layers": 12, "num_labels": 1000})",
              86'569'192},
        Known{"T5EncoderBase",
              R"({"architectures": ["T5EncoderModel"], "model_type": "t5", "d_model": 768, "d_ff": 3072,
                  "num_layers": 12, "num_heads": 12})",
              109'628'544},
        Known{"Mt5Small",
              R"({"architectures": ["MT5ForConditionalGeneration"], "model_type": "mt5", "d_model": 512, "d_ff": 1024,
                  "num_layers": 8, "num_heads": 6})",
              300'176'768},
        // Gemma 3 4B as published: sizes of heads and vocabulary left to the class's defaults.
        Known{"Gemma3WithDefaults",
              R"({"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3",
                  "text_config": {"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text",
                                  "num_hidden_layers": 34, "sliding_window": 1024},
                  "vision_config": {"hidden_size": 1152, "image_size": 896, "intermediate_size": 4304,
                                    "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14}})",
              4'300'079'472},
        Known{"LlamaModel",
              R"({"architectures": ["LlamaModel"], "model_type": "llama", "hidden_size": 4096,
                  "num_hidden_layers": 32, "num_attention_heads": 32})",
              6'738'415'616 - 32'000LL * 4'096},
        Known{"LlamaForSequenceClassification",
              R"({"architectures": ["LlamaForSequenceClassification"], "model_type": "llama", "hidden_size": 4096,
                  "num_hidden_layers": 32, "id2label": {"0": "a", "1": "b", "2": "c"}})",
              6'738'415'616 - 32'000LL * 4'096 + 3LL * 4'096},
        Known{"FalconRw1b",
              R"({"architectures": ["FalconForCausalLM"], "model_type": "falcon", "hidden_size": 2048,
                  "num_hidden_layers": 24, "num_attention_heads": 32, "alibi": true, "bias": true,
                  "multi_query": false, "parallel_attn": false, "new_decoder_architecture": false,
                  "vocab_size": 50304})",
              1'311'625'216},
        Known{"MptOfTransformers",  // ignores the fields for learned positions and biases
              R"({"architectures": ["MptForCausalLM"], "model_type": "mpt", "d_model": 4096, "n_layers": 32,
                  "n_heads": 32, "vocab_size": 50432, "learned_pos_emb": true, "no_bias": false})",
              6'649'286'656}),
    [](const auto& test) { return test.param.name; });

TEST(ReadModel, ReadsTheShapeOfALlama) {
  Checked<ModelShape> shape = read(R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072})");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->name, "config.json");
  EXPECT_EQ(shape->family, "llama");
  EXPECT_EQ(shape->architecture, "LlamaForCausalLM");
  EXPECT_EQ(shape->head_dim, 128);
  EXPECT_EQ(shape->rotary_dim, 128);
  EXPECT_EQ(shape->kv_heads, 8);
  EXPECT_TRUE(shape->gated_mlp);
  EXPECT_EQ(shape->parameters(), 8'030'261'248);
}

TEST(ReadModel, MistralWindowIsTheDefaultWhenAbsentAndNoneWhenNull) {
  const std::string sizes = R"("model_type": "mistral", "hidden_size": 64, "num_hidden_layers": 1)";
  EXPECT_EQ(read("{" + sizes + "}")->sliding_window, 4'096);
  EXPECT_EQ(read("{" + sizes + R"(, "sliding_window": null})")->sliding_window, 0);
  EXPECT_EQ(read("{" + sizes + R"(, "sliding_window": 77})")->sliding_window, 77);
}

// GlmConfig and Glm4Config of transformers 5.17: attention_bias is true if config.json lacks it. q has 32 heads of 128,
// k and v 2 each: 4096 + 2 x 256 biases per layer.
TEST(ReadModel, GlmHasBiasesUnlessTheConfigurationTurnsThemOff) {
  for (const char* type : {"glm", "glm4"}) {
    const std::string sizes = std::string("{\"model_type\": \"") + type +
                              "\", \"hidden_size\": 4096, \"num_hidden_layers\": 40, \"num_attention_heads\": 32";
    const auto silent = read_model("config.json", sizes + "}");
    const auto without = read_model("config.json", sizes + ", \"attention_bias\": false}");
    ASSERT_TRUE(silent && without) << type;
    EXPECT_EQ(silent->parameters() - without->parameters(), 40 * (4096 + 2 * 256)) << type;
  }
}

TEST(ReadModel, EveryFamilyReadsFromItsSizesAlone) {
  const std::string sizes =
      R"("hidden_size": 768, "d_model": 768, "dim": 768, "embed_dim": 96, "num_hidden_layers": 2, "num_layers": 2,
         "n_layers": 2, "encoder_layers": 2, "decoder_layers": 2, "num_attention_heads": 12, "num_heads": 12,
         "n_heads": 12, "n_head": 12)";
  for (const ModelFamily& family : model_families()) {
    std::string own = sizes;
    // Fields of one family may look like misspelt fields of another.
    if (family.name == "swin") own = R"("embed_dim": 96)";
    if (family.name == "resnet" || family.name == "convnext") own = R"("depths": [2, 2, 2, 2])";
    if (family.name == "unet2d_condition") own = R"("sample_size": 64)";
    if (family.name == "hunyuan_dit")
      own = R"("num_layers": 4)";  // its second half joins the first, so two are too few
    Checked<ModelShape> shape = read(fmt::format(R"({{"model_type": "{}", {}}})", family.name, own));
    ASSERT_TRUE(shape) << family.name << "\n" << describe(shape.error());
    EXPECT_GT(shape->parameters(), 0) << family.name;
    EXPECT_LE(shape->active_parameters(), shape->parameters()) << family.name;
    EXPECT_FALSE(family.description.empty()) << family.name;
    if (!shape->experts) {
      EXPECT_EQ(shape->active_parameters(), shape->parameters()) << family.name;
    }
  }
}

// Each wrong configuration, and what its message must say.
struct Wrong {
  const char* name;
  const char* config;
  const char* says;
};

class WrongConfig : public testing::TestWithParam<Wrong> {};

TEST_P(WrongConfig, IsRefusedWithAReason) {
  std::string text = errors_of(GetParam().config);
  EXPECT_TRUE(contains(text, GetParam().says)) << text;
  EXPECT_TRUE(contains(text, "config.json:")) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Configs, WrongConfig,
    testing::Values(
        Wrong{"UnknownFamily", R"({"model_type": "lama"})", "unknown model_type 'lama'"},
        Wrong{"FamilySuggested", R"({"model_type": "lama"})", "did you mean 'llama'"},
        Wrong{"NoFamily", R"({"hidden_size": 8})", "'model_type' is missing"},
        Wrong{"FamilyGuessed", R"({"architectures": ["Qwen2MoeForCausalLM"]})",
              "suggests \"model_type\": \"qwen2_moe\""},
        Wrong{"Negative", R"({"model_type": "llama", "hidden_size": 8, "num_hidden_layers": -3})",
              "'num_hidden_layers' must be a whole number from 1 to 1000, not -3"},
        Wrong{"Zero", R"({"model_type": "llama", "hidden_size": 0, "num_hidden_layers": 3})",
              "from 1 to 1000000, not 0"},
        Wrong{"Misspelt", R"({"model_type": "llama", "hidden_size": 32, "num_hiden_layers": 3})",
              "is 'num_hiden_layers' meant to be 'num_hidden_layers'?"},
        Wrong{"MisspeltOptional",
              R"({"model_type": "llama", "hidden_size": 32, "num_hidden_layers": 3, "tie_word_embedding": true})",
              "did you mean 'tie_word_embeddings'?"},
        Wrong{"HeadsDoNotDivide",
              R"({"model_type": "llama", "hidden_size": 100, "num_hidden_layers": 3, "num_attention_heads": 32})",
              "'hidden_size' (100) must be a multiple of 'num_attention_heads' (32) when 'head_dim' is absent"},
        Wrong{"GroupsDoNotDivide",
              R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 32,
                  "num_key_value_heads": 5})",
              "'num_attention_heads' (32) must be a multiple of 'num_key_value_heads' (5)"},
        Wrong{"TooManyExperts",
              R"({"model_type": "mixtral", "hidden_size": 64, "num_hidden_layers": 3, "num_local_experts": 4,
                  "num_experts_per_tok": 8})",
              "'num_experts_per_tok' (8) must not exceed 'num_local_experts' (4)"},
        Wrong{"Activation",
              R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 3, "hidden_act": "sillu"})",
              "did you mean 'silu'"},
        Wrong{"Product",
              R"({"model_type": "mixtral", "hidden_size": 1000000, "head_dim": 64, "num_hidden_layers": 1000,
                  "intermediate_size": 10000000, "num_local_experts": 100000})",
              "the maximum is 1e+15"},
        Wrong{"UnknownHead", R"({"architectures": ["LlamaEagle"], "model_type": "llama", "hidden_size": 64,
                                 "num_hidden_layers": 3})",
              "the head of the class 'LlamaEagle' is not known"},
        Wrong{"Stages", R"({"model_type": "resnet", "hidden_sizes": [64, 128], "depths": [2]})",
              "one number for each stage"},
        Wrong{"UnetBlocks", R"({"_class_name": "UNet2DConditionModel", "down_block_types": ["AttnDownBlock2D"]})",
              "may hold DownBlock2D and CrossAttnDownBlock2D only"},
        Wrong{"NotSquare", R"({"model_type": "vit", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
                               "image_size": [224, 196]})",
              "must be square"},
        Wrong{"List", "[1, 2]", "must be a JSON object"}),
    [](const auto& test) { return test.param.name; });

TEST(ReadModel, AllMistakesAreReportedAtOnceWithCarets) {
  EXPECT_EQ(errors_of("{\n"
                      "  \"model_type\": \"llama\",\n"
                      "  \"hidden_size\": \"big\",\n"
                      "  \"num_hidden_layers\": 2000,\n"
                      "  \"vocab_size\": 1.5\n"
                      "}\n"),
            "error: config.json:4:24: 'num_hidden_layers' must be a whole number from 1 to 1000, not 2000\n"
            "    \"num_hidden_layers\": 2000,\n"
            "                         ^~~~\n"
            "error: config.json:3:18: 'hidden_size' must be a whole number from 1 to 1000000, not the string \"big\"\n"
            "    \"hidden_size\": \"big\",\n"
            "                   ^~~~~\n"
            "error: config.json:5:17: 'vocab_size' must be a whole number from 1 to 10000000, not 1.5\n"
            "    \"vocab_size\": 1.5\n"
            "                  ^~~\n");
}

TEST(ReadModel, EveryTruncationIsAnErrorNotACrash) {
  const std::string text = R"({"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3",
    "text_config": {"hidden_size": 2560, "num_hidden_layers": 34, "layer_types": ["sliding_attention", "full_attention"]},
    "vision_config": {"hidden_size": 1152, "image_size": 896, "num_attention_heads": 16, "patch_size": 14}})";
  for (std::size_t length = 0; length < text.size(); ++length) EXPECT_FALSE(read(text.substr(0, length))) << length;
  EXPECT_TRUE(read(text));
}

TEST(ReadModel, AnyChangedByteIsReadOrRefusedNotACrash) {
  const std::string text = R"({"model_type": "deepseek_v2", "hidden_size": 64, "num_hidden_layers": 4,
    "num_attention_heads": 4, "q_lora_rank": null, "n_routed_experts": 8, "num_experts_per_tok": 2, "vocab_size": 100})";
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (char c : {'\0', '"', '{', '}', '[', ',', ':', '9', '-', 'e', '\\', '\xff'}) {
      std::string changed = text;
      changed[i] = c;
      Checked<ModelShape> shape = read(changed);
      if (shape) {
        EXPECT_GE(shape->parameters(), shape->active_parameters());
      }
    }
  }
}

// arXiv 2402.16819, section 2: 3.2 billion embedding and 12.5 billion other parameters.
TEST(Nemotron, ParameterCountIsThePublishedOne) {
  const std::int64_t all = count(R"({"model_type": "nemotron", "hidden_size": 6144, "num_hidden_layers": 32,
      "num_attention_heads": 48, "num_key_value_heads": 8, "intermediate_size": 24576, "vocab_size": 256000,
      "hidden_act": "relu2", "partial_rotary_factor": 0.5})");
  const std::int64_t embeddings = 2LL * 256'000 * 6'144;
  EXPECT_NEAR(static_cast<double>(embeddings), 3.2e9, 0.06e9);
  EXPECT_NEAR(static_cast<double>(all - embeddings), 12.5e9, 0.05e9);
}

// 230 billion parameters, 10 billion of them active (the model's page in the transformers documentation).
TEST(MiniMax, ParameterCountIsThePublishedOne) {
  Checked<ModelShape> shape = read(R"({"model_type": "minimax_m2", "hidden_size": 3072, "num_hidden_layers": 62,
      "num_attention_heads": 48, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 1536,
      "vocab_size": 200064, "num_local_experts": 256, "num_experts_per_tok": 8, "rotary_dim": 64})");
  ASSERT_TRUE(shape) << describe(shape.error());
  EXPECT_NEAR(static_cast<double>(shape->parameters()), 229e9, 1e9);
  EXPECT_NEAR(static_cast<double>(shape->active_parameters()), 10e9, 1.5e9);
  EXPECT_EQ(shape->rotary_dim, 64);
}

// The first positions of RoBERTa are those of the padding.
TEST(ReadModel, RobertaHasFewerTokensThanPositions) {
  const Checked<ModelShape> shape = read(R"({"architectures": ["XLMRobertaForSequenceClassification"],
      "model_type": "xlm-roberta", "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
      "max_position_embeddings": 8194, "type_vocab_size": 1, "pad_token_id": 1, "vocab_size": 250002})");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->context, 8192);
}

}  // namespace
}  // namespace rightsize::model
