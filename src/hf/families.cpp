// One row per model_type. Facts of the family's own code: transformers, or the code that ships with
// the checkpoint.
#include "src/hf/families.h"

#include <algorithm>
#include <vector>

#include "src/case/config.h"

namespace rope_bench {
namespace {

constexpr Pairing kGptj = Pairing::kGptj;

constexpr QkNorm kHead = {.kind = QkNormKind::kHeadRms};
constexpr QkNorm kHeadPlusOne = {.kind = QkNormKind::kHeadRms, .plus_one = true};
constexpr QkNorm kHeadAfter = {.kind = QkNormKind::kHeadRms, .after = true};
constexpr QkNorm kHeadFlag = {
    .kind = QkNormKind::kHeadRms, .flag = "use_qk_norm", .flag_default = false};
constexpr QkNorm kHeadAfterFlag = {
    .kind = QkNormKind::kHeadRms, .after = true, .flag = "use_qk_norm", .flag_default = false};
constexpr QkNorm kRow = {.kind = QkNormKind::kRowRms};
constexpr QkNorm kRowFlag = {.kind = QkNormKind::kRowRms, .flag = "use_qk_norm"};
constexpr QkNorm kLayerNorm = {
    .kind = QkNormKind::kHeadLayerNorm, .flag = "qk_layernorm", .flag_default = false};
constexpr QkNorm kLayerNormOn = {.kind = QkNormKind::kHeadLayerNorm, .flag = "qk_layernorm"};
constexpr QkNorm kCohereNorm = {
    .kind = QkNormKind::kHeadLayerNorm, .flag = "use_qk_norm", .flag_default = false};
constexpr QkNorm kL2After = {.kind = QkNormKind::kHeadL2, .after = true, .flag = "use_qk_norm"};
constexpr QkNorm kWeightlessAfter = {.kind = QkNormKind::kHeadL2, .after = true};
constexpr QkNorm kLatent = {.kind = QkNormKind::kLatent};

constexpr const char* kAlibi = "ALiBi biases of the attention scores";
constexpr const char* kLearned = "learned position embeddings";
constexpr const char* kRelative = "relative position biases";
constexpr const char* kNoAttention = "no positions: a state-space model";
constexpr const char* kWeights =
    "adjacent pairs (2i, 2i + 1): weights as trained; transformers reorders them to halves before "
    "rotating, which gives the same dot products";

constexpr const char* kImage =
    "pairs (i, i + r/2) over the head: image rows turn the first half of them, columns the second";

// One row is one line, however long.
// clang-format off
const Family kFamilies[] = {
    // LLaMA and what is built like it.
    {.type = "llama", .defaults = {4096, 32, 0, 0, 2048, 1e4}},
    {.type = "mistral", .defaults = {4096, 32, 8, 0, 131072, 1e4}},
    {.type = "mixtral", .defaults = {4096, 32, 8, 0, 131072, 1e6}},
    {.type = "ministral", .defaults = {4096, 32, 8, 0, 131072, 1e4}},
    {.type = "ministral3", .defaults = {4096, 32, 8, 128, 262144, 1e6}},
    {.type = "mistral3", .defaults = {4096, 32, 8, 0, 131072, 1e4}},
    {.type = "Yi", .defaults = {4096, 32, 0, 0, 4096, 1e4}},
    {.type = "aquila", .defaults = {4096, 32, 0, 0, 2048, 1e4}},
    {.type = "xverse", .defaults = {4096, 32, 0, 0, 8192, 1e4}},
    {.type = "orion"},
    {.type = "deepseek", .defaults = {4096, 32, 32, 0, 2048, 1e4}},
    {.type = "arcee", .defaults = {2560, 32, 0, 0, 4096, 1e4}},
    {.type = "seed_oss"},
    {.type = "mimo"},
    {.type = "solar"},
    {.type = "exaone"},
    {.type = "granite", .defaults = {4096, 32, 0, 0, 2048, 1e4}},
    {.type = "granitemoe", .defaults = {4096, 32, 0, 0, 2048, 1e4}},
    {.type = "granitemoeshared", .defaults = {4096, 32, 0, 0, 2048, 1e4}},
    {.type = "granitemoehybrid", .defaults = {4096, 32, 0, 0, 2048, 1e4}, .position_type_needed = true},
    {.type = "baichuan", .defaults = {4096, 32, 0, 0, 4096, 1e4}, .alibi_unless_hidden_size = 4096},
    {.type = "internlm", .defaults = {4096, 32, 0, 0, 2048, 1e4}},
    {.type = "internlm2", .defaults = {4096, 32, 0, 0, 2048, 1e4}},
    {.type = "internlm3", .defaults = {4096, 32, 2, 0, 32768, 1e4}},
    {.type = "minicpm", .defaults = {4096, 32, 0, 0, 2048, 1e4}},
    {.type = "smollm3", .defaults = {2048, 16, 4, 0, 32768, 2e6}, .nope_interval = 4},
    {.type = "starcoder2", .defaults = {3072, 24, 2, 0, 4096, 1e4}},
    {.type = "dbrx", .defaults = {2048, 16, 1, 0, 2048, 1e4}},
    {.type = "laguna"},
    {.type = "telechat3", .yarn_slope = 0.07},
    {.type = "falcon_h1", .defaults = {0, 0, 0, 0, 8192, 1e5}},
    {.type = "bamba", .defaults = {4096, 32, 8, 0, 262144, 1e4}, .partial = 0.5},
    {.type = "modernbert", .defaults = {768, 12, 0, 0, 8192, 160000}, .local = {"local_rope_theta", 1e4}},
    {.type = "nomic_bert"},
    {.type = "esm", .defaults = {768, 12, 0, 0, 1026, 1e4}, .position_type_needed = true},
    {.type = "hf_olmo"},
    // OLMo: norms over the whole row since the second.
    {.type = "olmo", .defaults = {4096, 32, 0, 0, 2048, 1e4}},
    {.type = "olmo2", .defaults = {4096, 32, 0, 0, 2048, 1e4}, .norm = kRow},
    {.type = "olmo3", .defaults = {4096, 32, 0, 0, 2048, 1e4}, .norm = kRow, .sliding_unscaled = true},
    {.type = "olmoe", .defaults = {2048, 16, 0, 0, 4096, 1e4}, .norm = kRow},
    {.type = "minimax_m2", .norm = kRowFlag},
    // Qwen.
    {.type = "qwen", .defaults = {4096, 32, 0, 0, 8192, 1e4}},
    {.type = "qwen2", .defaults = {4096, 32, 32, 0, 32768, 1e4}, .inert = " use_mrope "},
    {.type = "qwen2_moe", .defaults = {2048, 16, 16, 0, 32768, 1e4}, .inert = " use_mrope "},
    {.type = "qwen3", .defaults = {4096, 32, 32, 128, 32768, 1e4}, .norm = kHead},
    {.type = "qwen3_moe", .defaults = {2048, 32, 4, 0, 32768, 1e4}, .norm = kHead},
    {.type = "qwen3_next", .defaults = {2048, 16, 2, 256, 32768, 1e4}, .partial = 0.25, .norm = kHeadPlusOne},
    {.type = "qwen3_5", .defaults = {4096, 16, 4, 256, 32768, 1e4}, .partial = 0.25, .norm = kHeadPlusOne, .axes = "mrope_interleaved"},
    {.type = "qwen3_5_text", .defaults = {4096, 16, 4, 256, 32768, 1e4}, .partial = 0.25, .norm = kHeadPlusOne, .axes = "mrope_interleaved"},
    {.type = "qwen2_vl", .defaults = {8192, 64, 8, 0, 32768, 1e6}},
    {.type = "qwen2_vl_text", .defaults = {8192, 64, 8, 0, 32768, 1e6}},
    {.type = "qwen2_5_vl", .defaults = {8192, 64, 8, 0, 32768, 1e6}},
    {.type = "qwen2_5_vl_text", .defaults = {8192, 64, 8, 0, 32768, 1e6}},
    {.type = "qwen2_5_omni_text", .defaults = {3584, 28, 4, 0, 32768, 1e6}},
    {.type = "qwen3_omni_moe_text", .defaults = {2048, 32, 4, 0, 65536, 1e6}, .norm = kHead, .axes = "mrope_interleaved"},
    {.type = "qwen3_vl", .defaults = {4096, 32, 32, 128, 128000, 5e6}, .norm = kHead, .axes = "mrope_interleaved"},
    {.type = "qwen3_vl_text", .defaults = {4096, 32, 32, 128, 128000, 5e6}, .norm = kHead, .axes = "mrope_interleaved"},
    {.type = "qwen3_vl_moe", .defaults = {2048, 16, 16, 0, 128000, 5e6}, .norm = kHead, .axes = "mrope_interleaved"},
    {.type = "qwen3_vl_moe_text", .defaults = {2048, 16, 16, 0, 128000, 5e6}, .norm = kHead, .axes = "mrope_interleaved"},
    // Norms of each head.
    {.type = "apertus", .norm = kHead},
    {.type = "dots1", .norm = kHead},
    {.type = "lfm2", .defaults = {2560, 32, 8, 0, 128000, 1e6}, .norm = kHead},
    {.type = "exaone4", .defaults = {4096, 32, 32, 0, 2048, 1e4}, .norm = kHead, .nope_layers = "full-attention layers of models with a sliding window"},
    {.type = "bailing_moe", .norm = kHeadFlag},
    {.type = "bailing_moe_v2", .norm = kHeadFlag},
    {.type = "step3p5", .norm = kHeadPlusOne},
    {.type = "hunyuan", .norm = kHeadAfterFlag, .alpha_base = true},
    {.type = "hunyuan_v1_dense", .defaults = {4096, 32, 0, 0, 2048, 1e4}, .norm = kHeadAfter, .alpha_base = true},
    {.type = "hunyuan_v1_moe", .defaults = {4096, 32, 0, 0, 2048, 1e4}, .norm = kHeadAfter, .alpha_base = true},
    {.type = "hunyuan_vl", .norm = kHeadAfter, .axes = "xdrope", .alpha_base = true},
    {.type = "hunyuan_vl_text", .norm = kHeadAfter, .axes = "xdrope", .alpha_base = true},
    {.type = "nanochat", .norm = kWeightlessAfter, .reversed = true},
    // Gemma: heads are wider than hidden_size / num_attention_heads.
    {.type = "gemma", .defaults = {3072, 16, 16, 256, 8192, 1e4}},
    {.type = "gemma2", .defaults = {2304, 8, 4, 256, 8192, 1e4}},
    {.type = "gemma3", .defaults = {2304, 8, 4, 256, 131072, 1e6}, .norm = kHeadPlusOne, .local = {"rope_local_base_freq", 1e4}},
    {.type = "gemma3_text", .defaults = {2304, 8, 4, 256, 131072, 1e6}, .norm = kHeadPlusOne, .local = {"rope_local_base_freq", 1e4}},
    {.type = "gemma3n", .defaults = {2048, 8, 2, 256, 32768, 1e6}, .norm = kHead, .local = {"rope_local_base_freq", 1e4}},
    {.type = "gemma3n_text", .defaults = {2048, 8, 2, 256, 32768, 1e6}, .norm = kHead, .local = {"rope_local_base_freq", 1e4}},
    {.type = "gemma4", .norm = kHead},
    {.type = "gemma4_text", .norm = kHead},
    // Window layers with a theta of their own.
    {.type = "mimo_v2_flash", .local = {"swa_rope_theta", 0}},
    // Partial rotation.
    {.type = "gpt_neox", .defaults = {6144, 64, 0, 0, 2048, 1e4}, .partial = 0.25},
    {.type = "gpt_neox_japanese", .defaults = {2560, 32, 0, 0, 2048, 1e4}},
    {.type = "phi", .defaults = {2048, 32, 0, 0, 2048, 1e4}, .partial = 0.5, .norm = kLayerNorm},
    {.type = "phi-msft", .defaults = {2560, 32, 0, 0, 2048, 1e4}, .rotary_dim = 32},
    {.type = "mixformer-sequential", .defaults = {2048, 32, 0, 0, 2048, 1e4}, .rotary_dim = 32},
    {.type = "phi3", .defaults = {3072, 32, 0, 0, 4096, 1e4}},
    {.type = "phi4mm", .defaults = {3072, 24, 8, 0, 131072, 1e4}},
    {.type = "phimoe", .defaults = {4096, 32, 8, 0, 131072, 1e6}, .list_mscale = true},
    {.type = "persimmon", .defaults = {4096, 64, 0, 0, 16384, 25000}, .partial = 0.5, .norm = kLayerNormOn},
    {.type = "stablelm", .defaults = {2560, 32, 32, 0, 4096, 1e4}, .partial = 0.25, .norm = kLayerNorm},
    {.type = "stablelm_epoch", .defaults = {2560, 32, 32, 0, 4096, 1e4}, .partial = 0.25},
    {.type = "nemotron", .defaults = {6144, 48, 0, 0, 4096, 1e4}, .partial = 0.5},
    {.type = "glm4_moe", .defaults = {4096, 96, 8, 0, 131072, 1e4}, .partial = 0.5, .norm = kHeadFlag},
    {.type = "recurrent_gemma", .defaults = {2560, 10, 0, 0, 8192, 1e4}, .partial = 0.5},
    {.type = "gpt_oss", .defaults = {2880, 64, 8, 64, 131072, 150000}, .inert = " initial_context_length "},
    // Falcon, under its older names too.
    {.type = "falcon", .defaults = {4544, 71, 0, 0, 2048, 1e4}},
    {.type = "RefinedWebModel", .defaults = {4544, 71, 0, 0, 2048, 1e4}},
    {.type = "RefinedWeb", .defaults = {8192, 128, 0, 0, 2048, 1e4}},
    // Adjacent pairs.
    {.type = "gptj", .pairing = kGptj, .defaults = {4096, 16, 0, 0, 2048, 1e4}, .rotary_dim = 64},
    {.type = "codegen", .pairing = kGptj, .defaults = {4096, 16, 0, 0, 2048, 1e4}, .rotary_dim = 64},
    {.type = "roformer", .pairing = kGptj, .defaults = {768, 12, 0, 0, 1536, 1e4}},
    {.type = "cohere", .pairing = kGptj, .defaults = {8192, 64, 0, 0, 8192, 1e4}, .norm = kCohereNorm},
    {.type = "cohere2", .pairing = kGptj, .defaults = {8192, 64, 0, 0, 8192, 1e4}, .nope_layers = "full-attention layers"},
    {.type = "glm", .pairing = kGptj, .defaults = {4096, 32, 2, 128, 131072, 1e4}, .partial = 0.5},
    {.type = "glm4", .pairing = kGptj, .defaults = {4096, 32, 2, 128, 131072, 1e4}, .partial = 0.5},
    {.type = "chatglm", .pairing = kGptj, .defaults = {4096, 32, 0, 0, 0, 1e4}, .partial = 0.5, .has_rope_ratio = true, .inert = " original_rope "},
    {.type = "ernie4_5", .pairing = kGptj, .defaults = {1024, 16, 2, 128, 131072, 5e5}},
    {.type = "ernie4_5_moe", .pairing = kGptj, .defaults = {2560, 20, 4, 0, 131072, 5e5}},
    {.type = "ernie4_5_vl_moe", .pairing = kGptj, .defaults = {2560, 20, 4, 0, 131072, 5e5}, .axes = "ernie"},
    {.type = "ernie4_5_moe_vl", .pairing = kGptj, .defaults = {2560, 20, 4, 0, 131072, 5e5}, .axes = "ernie"},
    {.type = "glm4v", .pairing = kGptj, .defaults = {4096, 32, 2, 0, 32768, 1e4}, .partial = 0.5},
    {.type = "glm4v_text", .pairing = kGptj, .defaults = {4096, 32, 2, 0, 32768, 1e4}, .partial = 0.5},
    {.type = "helium", .pairing = kGptj, .defaults = {2560, 20, 20, 128, 4096, 1e5}},
    {.type = "llama4", .pairing = kGptj, .defaults = {5120, 40, 8, 128, 131072, 5e5}, .norm = kL2After, .nope_interval = 4},
    {.type = "llama4_text", .pairing = kGptj, .defaults = {5120, 40, 8, 128, 131072, 5e5}, .norm = kL2After, .nope_interval = 4},
    // Multi-head latent attention: some dims of each query head rotate, and one key part for all.
    {.type = "deepseek_v2", .pairing = kGptj, .why = kWeights, .defaults = {4096, 32, 0, 0, 2048, 1e4}, .norm = kLatent, .mla_nope = 128},
    {.type = "deepseek_v3", .pairing = kGptj, .why = kWeights, .defaults = {7168, 128, 0, 0, 4096, 1e4}, .norm = kLatent, .mla_nope = 128},
    {.type = "deepseek_v32", .pairing = kGptj, .why = kWeights, .norm = kLatent, .mla_nope = 128},
    {.type = "kimi_k2", .pairing = kGptj, .why = kWeights, .defaults = {7168, 64, 0, 0, 131072, 5e4}, .norm = kLatent, .mla_nope = 128},
    {.type = "glm4_moe_lite", .pairing = kGptj, .why = kWeights, .norm = kLatent, .mla_nope = 192},
    {.type = "longcat_flash", .pairing = kGptj, .why = kWeights, .norm = kLatent, .mla_nope = 128},
    {.type = "youtu_llm", .pairing = kGptj, .why = kWeights, .norm = kLatent, .mla_nope = 128},
    {.type = "youtu", .pairing = kGptj, .why = kWeights, .norm = kLatent, .mla_nope = 128},
    {.type = "minicpm3", .defaults = {2560, 40, 0, 0, 32768, 1e4}, .norm = kLatent, .mla_nope = 64},
    // Vision towers, when asked for.
    {.type = "qwen2_vl_vision", .why = kImage, .defaults = {1280, 16, 0, 0, 0, 1e4}, .axes = "vision_2d"},
    {.type = "qwen2_5_vl_vision", .why = kImage, .defaults = {1280, 16, 0, 0, 0, 1e4}, .axes = "vision_2d"},
    {.type = "qwen3_vl_vision", .why = kImage, .defaults = {1152, 16, 0, 0, 0, 1e4}, .axes = "vision_2d"},
    {.type = "qwen3_vl_moe_vision", .why = kImage, .defaults = {1152, 16, 0, 0, 0, 1e4}, .axes = "vision_2d"},
    {.type = "qwen3_5_vision", .why = kImage, .defaults = {1152, 16, 0, 0, 0, 1e4}, .axes = "vision_2d"},
    {.type = "pixtral", .refusal = "its image axes take every other frequency each, which no rope.axes.kind expresses"},
    {.type = "llama4_vision_model", .refusal = "its image axes count from 1 and its class token never rotates, which no " "rope.axes.kind expresses"},
    // Families without RoPE, so that they are refused by name.
    {.type = "bloom", .no_rope = kAlibi},
    {.type = "mpt", .no_rope = kAlibi},
    {.type = "jais", .no_rope = kAlibi},
    {.type = "gpt2", .no_rope = kLearned},
    {.type = "gpt_neo", .no_rope = kLearned},
    {.type = "gpt_bigcode", .no_rope = kLearned},
    {.type = "openai-gpt", .no_rope = kLearned},
    {.type = "opt", .no_rope = kLearned},
    {.type = "biogpt", .no_rope = kLearned},
    {.type = "bert", .no_rope = kLearned},
    {.type = "roberta", .no_rope = kLearned},
    {.type = "xlm-roberta", .no_rope = kLearned},
    {.type = "distilbert", .no_rope = kLearned},
    {.type = "electra", .no_rope = kLearned},
    {.type = "albert", .no_rope = kLearned},
    {.type = "bart", .no_rope = kLearned},
    {.type = "whisper", .no_rope = kLearned},
    {.type = "clip_vision_model", .no_rope = kLearned},
    {.type = "clip_text_model", .no_rope = kLearned},
    {.type = "siglip_vision_model", .no_rope = kLearned},
    {.type = "vit", .no_rope = kLearned},
    {.type = "deberta-v2", .no_rope = kRelative},
    {.type = "t5", .no_rope = kRelative},
    {.type = "xlnet", .no_rope = kRelative},
    {.type = "ctrl", .no_rope = "sinusoidal position embeddings"},
    {.type = "xglm", .no_rope = "sinusoidal position embeddings"},
    {.type = "nemotron_h", .no_rope = "no positions at all"},
    {.type = "jamba", .no_rope = "no positions at all"},
    {.type = "kimi_linear", .no_rope = "no positions at all in its attention layers"},
    {.type = "mamba", .no_rope = kNoAttention},
    {.type = "mamba2", .no_rope = kNoAttention},
    {.type = "falcon_mamba", .no_rope = kNoAttention},
    {.type = "rwkv", .no_rope = "no positions: a recurrent model"},
};
// clang-format on

}  // namespace

std::span<const Family> families() { return kFamilies; }

const Family* find_family(std::string_view model_type) {
  const auto found = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                  [&](const Family& row) { return model_type == row.type; });
  return found == std::end(kFamilies) ? nullptr : found;
}

std::string nearest_family(const std::string& model_type) {
  std::vector<std::string> types;
  for (const Family& row : kFamilies) types.emplace_back(row.type);
  return nearest(model_type, types);
}

std::string pairing_reason(const Family& family) {
  if (*family.why) return family.why;
  return family.pairing == Pairing::kGptj
             ? "adjacent pairs (2i, 2i + 1), as the family's code rotates them"
             : "pairs (i, i + r/2), as the family's code rotates halves of the rotated dims";
}

std::string norm_text(const QkNorm& norm) {
  std::string text;
  switch (norm.kind) {
    case QkNormKind::kNone:
      return "none";
    case QkNormKind::kLatent:
      return "of latents";
    case QkNormKind::kHeadRms:
      text = "per head RMS";
      break;
    case QkNormKind::kRowRms:
      text = "full row RMS";
      break;
    case QkNormKind::kHeadLayerNorm:
      text = "per head LayerNorm";
      break;
    case QkNormKind::kHeadL2:
      text = "per head RMS without weights";
      break;
  }
  if (norm.plus_one) text += " (1 + w)";
  if (norm.after) text += " after RoPE";
  return text;
}

}  // namespace rope_bench
