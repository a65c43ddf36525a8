// verify: anybody's output from .npy files.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/math/hash.h"
#include "src/math/numeric.h"
#include "tests/cli/process.h"

namespace rope_bench {
namespace {

using Json = nlohmann::json;

constexpr int64_t kTokens = 6, kHeads = 4, kKvHeads = 2, kDim = 16, kRotary = 8;

class Verify : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("rope-bench-verify-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "c.json") << R"({"name": "c", "op": "rope", "dtype": "bf16",
        "model": {"num_heads": 4, "num_kv_heads": 2, "head_dim": 16, "max_position": 64},
        "rope": {"rotary_dim": 8, "theta": 500000}, "tokens": [1, 77]})";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  void write(const std::string& name, const std::string& type, const std::string& shape,
             const std::string& bytes) const {
    std::string header =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(128 - 10 - 1, ' ');
    header += '\n';
    std::ofstream file(path(name), std::ios::binary);
    file << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size()) << '\0'
         << header << bytes;
  }

  // Rounded to bf16, written as bits of it, as float16 or as float32.
  void write_values(const std::string& name, const std::string& shape,
                    const std::vector<double>& values, const std::string& type = "<u2") const {
    const Dtype dtype = type == "<u2" ? Dtype::kBF16 : type == "<f2" ? Dtype::kF16 : Dtype::kF32;
    std::string bytes(values.size() * static_cast<size_t>(info(dtype).size), '\0');
    for (size_t i = 0; i < values.size(); ++i)
      store_rounded(dtype, bytes.data(), static_cast<int64_t>(i), values[i]);
    write(name, type, shape, bytes);
  }

  static std::vector<double> inputs(int64_t heads, uint64_t seed) {
    std::vector<double> x(static_cast<size_t>(kTokens * heads * kDim));
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<double>(below(mix64(combine(seed, i)), 255) + 1) / 64 - 2;
    return x;
  }

  // Pairs (i, i + half), or the other pairing.
  static std::vector<double> rotated(const std::vector<double>& x, int64_t heads, bool neox,
                                     const std::vector<int64_t>& positions) {
    std::vector<double> y = x;
    for (int64_t row = 0; row < kTokens * heads; ++row) {
      for (int64_t i = 0; i < kRotary / 2; ++i) {
        const double angle = static_cast<double>(positions[row / heads]) *
                             std::pow(500000.0, -2.0 * static_cast<double>(i) / kRotary);
        const int64_t a = row * kDim + (neox ? i : 2 * i);
        const int64_t b = row * kDim + (neox ? i + kRotary / 2 : 2 * i + 1);
        y[a] = x[a] * std::cos(angle) - x[b] * std::sin(angle);
        y[b] = x[b] * std::cos(angle) + x[a] * std::sin(angle);
      }
    }
    return y;
  }

  void write_all(bool neox, const std::vector<int64_t>& positions, const std::string& type = "<u2",
                 const std::string& before = "6, ") const {
    const auto q = inputs(kHeads, 1), k = inputs(kKvHeads, 2);
    const std::string q_shape = "(" + before + "4, 16)", k_shape = "(" + before + "2, 16)";
    write_values("q.npy", q_shape, q, type);
    write_values("k.npy", k_shape, k, type);
    write_values("qr.npy", q_shape, rotated(q, kHeads, neox, positions), type);
    write_values("kr.npy", k_shape, rotated(k, kKvHeads, neox, positions), type);
  }

  ProcessResult verify(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> args = {"verify",       "--config", path("c.json"), "--q",
                                     path("q.npy"),  "--k",      path("k.npy"),  "--q-out",
                                     path("qr.npy"), "--k-out",  path("kr.npy")};
    args.insert(args.end(), more.begin(), more.end());
    return rope_bench(args);
  }

  std::filesystem::path folder_;
};

const std::vector<int64_t> kSequential = {0, 1, 2, 3, 4, 5};

TEST_F(Verify, ARightOutputPassesInEveryType) {
  for (const auto& [type, dtype] : {std::pair{"<u2", "bf16"}, {"<f2", "f16"}, {"<f4", "f32"}}) {
    write_all(true, kSequential, type);
    const ProcessResult result = verify({"--set", std::string("dtype=") + dtype, "-o", "json"});
    EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
    const Json row = Json::parse(result.out);
    EXPECT_EQ(row.at("status"), "passed");
    EXPECT_EQ(row.at("num_tokens"), 6);
    EXPECT_GT(row.at("max_ulp"), 0);
    EXPECT_TRUE(row.at("diagnosis").is_null());
  }
}

TEST_F(Verify, AWrongOutputIsNamed) {
  write_all(false, kSequential);
  const ProcessResult result = verify();
  EXPECT_EQ(result.exit_code, 1);
  for (const char* part : {"verdict        failed", "other_pairing: ", "worst element  "})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
  EXPECT_EQ(result.out.find("worst elements:"), std::string::npos);
  EXPECT_NE(verify({"-v"}).out.find("worst elements:\n    tensor  token"), std::string::npos);
  EXPECT_EQ(verify({"--set", "pairing=gptj"}).exit_code, 0);
}

TEST_F(Verify, PositionsComeFromAFile) {
  const std::vector<int64_t> positions = {7, 3, 0, 63, 9, 9};
  write_all(true, positions);
  std::string bytes(48, '\0');
  std::memcpy(bytes.data(), positions.data(), 48);
  write("p.npy", "<i8", "(6,)", bytes);
  EXPECT_EQ(verify({"--positions", path("p.npy")}).exit_code, 0);
  EXPECT_EQ(verify().exit_code, 1);
  write_all(true, kSequential);
  const ProcessResult ignored = verify({"--positions", path("p.npy"), "-o", "json"});
  EXPECT_EQ(Json::parse(ignored.out).at("diagnosis").at("name"), "token_index");
}

// A batch, [B, T, H, D]: positions begin again in each.
TEST_F(Verify, ABatchHasItsOwnPositions) {
  write_all(true, {0, 1, 2, 0, 1, 2}, "<u2", "2, 3, ");
  EXPECT_EQ(verify().exit_code, 0);
  write_all(true, kSequential, "<u2", "2, 3, ");
  EXPECT_EQ(verify().exit_code, 1);
}

// The table is to blame, not the kernel that read it.
TEST_F(Verify, ATableIsJudgedByItself) {
  std::vector<double> table;
  for (int64_t position = 0; position < kTokens; ++position) {
    for (const bool sine : {false, true}) {
      for (int64_t i = 0; i < kRotary / 2; ++i) {
        const double angle = static_cast<double>(position) *
                             std::pow(500000.0, -2.0 * static_cast<double>(i) / kRotary);
        table.push_back(sine ? std::sin(angle) : std::cos(angle));
      }
    }
  }
  write_all(true, kSequential);
  write_values("t.npy", "(6, 8)", table, "<f4");
  EXPECT_EQ(verify({"--table", path("t.npy")}).exit_code, 0);
  for (double& value : table) value = round_to(Dtype::kF16, value);
  write_values("t.npy", "(6, 8)", table, "<f4");
  const ProcessResult off = verify({"--table", path("t.npy"), "-o", "json"});
  EXPECT_EQ(off.exit_code, 1);
  EXPECT_NE(std::string(Json::parse(off.out).at("reason")).find("cos-sin table"),
            std::string::npos);
}

TEST_F(Verify, PackedRowsAndValues) {
  const auto q = inputs(kHeads, 1), k = inputs(kKvHeads, 2), v = inputs(kKvHeads, 3);
  std::vector<double> packed;
  for (int64_t t = 0; t < kTokens; ++t) {
    for (const auto& [x, heads] : {std::pair{&q, kHeads}, {&k, kKvHeads}, {&v, kKvHeads}})
      packed.insert(packed.end(), x->begin() + t * heads * kDim,
                    x->begin() + (t + 1) * heads * kDim);
  }
  write_all(true, kSequential);
  write_values("qkv.npy", "(6, 8, 16)", packed);
  write_values("vr.npy", "(6, 2, 16)", v);
  const std::vector<std::string> args = {"verify",        "--config", path("c.json"),  "--set",
                                         "op=split_rope", "--qkv",    path("qkv.npy"), "--q-out",
                                         path("qr.npy"),  "--k-out",  path("kr.npy"),  "--v-out",
                                         path("vr.npy")};
  EXPECT_EQ(rope_bench(args).exit_code, 0) << rope_bench(args).err << rope_bench(args).out;
  std::vector<double> wrong = v;
  wrong[5] += 1;
  write_values("vr.npy", "(6, 2, 16)", wrong);
  EXPECT_EQ(rope_bench(args).exit_code, 1);
}

// Gradients of split ops go to packed rows.
TEST_F(Verify, PackedGradients) {
  // What was rotated backward is what the rotation leads back from.
  const auto q = inputs(kHeads, 1), k = inputs(kKvHeads, 2), v = inputs(kKvHeads, 3);
  const auto back = [](const std::vector<double>& x, int64_t heads) {
    std::vector<double> y = x;
    for (int64_t row = 0; row < kTokens * heads; ++row) {
      for (int64_t i = 0; i < kRotary / 2; ++i) {
        const double angle = static_cast<double>(row / heads) *
                             std::pow(500000.0, -2.0 * static_cast<double>(i) / kRotary);
        const int64_t a = row * kDim + i, b = a + kRotary / 2;
        y[a] = x[a] * std::cos(angle) + x[b] * std::sin(angle);
        y[b] = x[b] * std::cos(angle) - x[a] * std::sin(angle);
      }
    }
    return y;
  };
  const auto packed = [](const std::vector<double>& a, const std::vector<double>& b,
                         const std::vector<double>& c) {
    std::vector<double> all;
    for (int64_t t = 0; t < kTokens; ++t) {
      for (const auto& [x, heads] : {std::pair{&a, kHeads}, {&b, kKvHeads}, {&c, kKvHeads}})
        all.insert(all.end(), x->begin() + t * heads * kDim, x->begin() + (t + 1) * heads * kDim);
    }
    return all;
  };
  write_values("q.npy", "(6, 4, 16)", q);
  write_values("k.npy", "(6, 2, 16)", k);
  write_values("v.npy", "(6, 2, 16)", v);
  const auto run = [&](const std::vector<double>& out, const char* op = "op=split_rope_backward") {
    write_values("dqkv.npy", "(6, 8, 16)", out);
    return rope_bench({"verify", "--config", path("c.json"), "--set", op, "--q", path("q.npy"),
                       "--k", path("k.npy"), "--v", path("v.npy"), "--qkv-out", path("dqkv.npy"),
                       "-o", "json"});
  };
  const ProcessResult right = run(packed(back(q, kHeads), back(k, kKvHeads), v));
  EXPECT_EQ(right.exit_code, 0) << right.err << right.out;
  // Forward instead of backward, and a value of v.
  const ProcessResult forward = run(
      packed(rotated(q, kHeads, true, kSequential), rotated(k, kKvHeads, true, kSequential), v));
  EXPECT_EQ(forward.exit_code, 1);
  EXPECT_EQ(Json::parse(forward.out).at("diagnosis").at("name"), "negated_sin");
  std::vector<double> wrong = v;
  wrong[kDim + 3] += 1;  // token 0, head 1
  const ProcessResult value = run(packed(back(q, kHeads), back(k, kKvHeads), wrong));
  EXPECT_EQ(value.exit_code, 1);
  const Json worst = Json::parse(value.out).at("worst");
  EXPECT_EQ(worst.at("tensor"), "v");
  EXPECT_EQ(worst.at("head"), 1);
  EXPECT_EQ(worst.at("dim"), 3);
  EXPECT_NE(run(wrong, "op=rope").err.find("op rope writes --q-out and --k-out"),
            std::string::npos);
}

// Outputs [sequences, heads, max_seqlen, dim]; what lies behind a sequence is not looked at.
TEST_F(Verify, PaddedOutputs) {
  const std::vector<int64_t> lengths = {2, 0, 4}, positions = {0, 1, 0, 1, 2, 3};
  const int64_t rows = 5;
  const auto padded = [&](const std::vector<double>& x, int64_t heads) {
    std::vector<double> out(static_cast<size_t>(3 * heads * rows * kDim), std::nan(""));
    int64_t token = 0;
    for (int64_t b = 0; b < 3; ++b) {
      for (int64_t s = 0; s < lengths[static_cast<size_t>(b)]; ++s, ++token) {
        for (int64_t h = 0; h < heads; ++h)
          std::copy_n(x.begin() + (token * heads + h) * kDim, kDim,
                      out.begin() + ((b * heads + h) * rows + s) * kDim);
      }
    }
    return out;
  };
  write_all(true, positions);
  const auto q = rotated(inputs(kHeads, 1), kHeads, true, positions);
  const auto k = rotated(inputs(kKvHeads, 2), kKvHeads, true, positions);
  write_values("qr.npy", "(3, 4, 5, 16)", padded(q, kHeads));
  write_values("kr.npy", "(3, 2, 5, 16)", padded(k, kKvHeads));
  const std::vector<std::string> how = {
      "--set", "op=varlen_split_rope", "--set", "seq_lens=[2,0,4]",    "--set", "tokens=null",
      "--set", "varlen.output=padded", "--set", "varlen.max_seqlen=5", "-o",    "json"};
  const ProcessResult right = verify(how);
  EXPECT_EQ(right.exit_code, 0) << right.err << right.out;
  EXPECT_EQ(Json::parse(right.out).at("num_compared"), kTokens * 6 * kRotary);
  std::vector<double> wrong = padded(k, kKvHeads);
  wrong[((2 * kKvHeads + 1) * rows + 3) * kDim + 2] += 1;  // sequence 2, head 1, its token 3
  write_values("kr.npy", "(3, 2, 5, 16)", wrong);
  const ProcessResult off = verify(how);
  EXPECT_EQ(off.exit_code, 1);
  const Json worst = Json::parse(off.out).at("worst");
  EXPECT_EQ(worst.at("tensor"), "k");
  EXPECT_EQ(worst.at("token"), 5);
  EXPECT_EQ(worst.at("head"), 1);
  write_values("kr.npy", "(6, 2, 16)", k);
  const ProcessResult packed = verify(how);
  EXPECT_EQ(packed.exit_code, 2);
  EXPECT_NE(packed.err.find("shape (6, 2, 16), expected (3, 2, 5, 16)"), std::string::npos)
      << packed.err;
}

// C186: numbers that are no cosines and sines of anything. The kernel is judged by them, the table
// by itself; that lengths change is no fault of the kernel.
TEST_F(Verify, ATableThatIsNoRotation) {
  write_all(true, kSequential);
  const ProcessResult kept = verify();
  EXPECT_NE(kept.out.find("norms kept     held, "), std::string::npos) << kept.out;
  std::vector<double> table(static_cast<size_t>(kTokens * kRotary));
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = static_cast<double>(below(mix64(combine(9, i)), 255) + 1) / 128;
  write_values("t.npy", "(6, 8)", table, "<f4");
  for (const auto& [name, heads, seed] :
       {std::tuple{"qr.npy", kHeads, 1}, std::tuple{"kr.npy", kKvHeads, 2}}) {
    const auto x = inputs(heads, static_cast<uint64_t>(seed));
    std::vector<double> y = x;
    for (int64_t row = 0; row < kTokens * heads; ++row) {
      for (int64_t i = 0; i < kRotary / 2; ++i) {
        const double c = table[static_cast<size_t>(row / heads * kRotary + i)];
        const double s = table[static_cast<size_t>(row / heads * kRotary + kRotary / 2 + i)];
        const int64_t a = row * kDim + i, b = a + kRotary / 2;
        y[a] = x[a] * c - x[b] * s;
        y[b] = x[b] * c + x[a] * s;
      }
    }
    write_values(name, heads == kHeads ? "(6, 4, 16)" : "(6, 2, 16)", y);
  }
  const ProcessResult result = verify({"--table", path("t.npy")});
  EXPECT_EQ(result.exit_code, 1);  // the table is not that of the config
  for (const char* part :
       {"0 over their bound", "table_off: ", "not-a-rotation: lengths of pairs change",
        "norms kept     not applicable: row 0 of the table is no rotation: cos^2 + sin^2 of pair "
        "0"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
}

// C184: weights of a norm, right and exchanged.
TEST_F(Verify, NormsHaveWeights) {
  const auto weights = [](double from) {
    std::vector<double> w(kDim);
    for (int64_t i = 0; i < kDim; ++i) w[i] = from + static_cast<double>(i) / 16;
    return w;
  };
  const auto normed = [](std::vector<double> x, const std::vector<double>& w) {
    for (size_t row = 0; row < x.size(); row += kDim) {
      double sum = 0;
      for (int64_t i = 0; i < kDim; ++i) sum += x[row + i] * x[row + i];
      for (int64_t i = 0; i < kDim; ++i) x[row + i] *= w[i] / std::sqrt(sum / kDim + 1e-6);
    }
    return x;
  };
  const auto q = inputs(kHeads, 1), k = inputs(kKvHeads, 2);
  write_values("q.npy", "(6, 4, 16)", q, "<f4");
  write_values("k.npy", "(6, 2, 16)", k, "<f4");
  write_values("qw.npy", "(16,)", weights(1), "<f4");
  write_values("kw.npy", "(16,)", weights(2), "<f4");
  write_values("qr.npy", "(6, 4, 16)", rotated(normed(q, weights(1)), kHeads, true, kSequential),
               "<f4");
  write_values("kr.npy", "(6, 2, 16)", rotated(normed(k, weights(2)), kKvHeads, true, kSequential),
               "<f4");
  const auto with = [&](const char* q_weight, const char* k_weight) {
    return verify({"--set", "op=norm_split_rope", "--set", "dtype=f32", "--q-weight",
                   path(q_weight), "--k-weight", path(k_weight), "-o", "json"});
  };
  EXPECT_EQ(with("qw.npy", "kw.npy").exit_code, 0) << with("qw.npy", "kw.npy").out;
  const ProcessResult swapped = with("kw.npy", "qw.npy");
  EXPECT_EQ(swapped.exit_code, 1);
  EXPECT_EQ(Json::parse(swapped.out).at("diagnosis").at("name"), "weights_swapped");
}

TEST_F(Verify, ErrorsAreOneLineThatNamesBoth) {
  write_all(true, kSequential);
  write_values("odd.npy", "(6, 3, 16)", inputs(3, 1));
  write_values("more.npy", "(5, 2, 16)", std::vector<double>(160));
  write_values("third.npy", "(6, 2, 16)", std::vector<double>(192, 1.0 / 3), "<f4");
  write("ints.npy", "<i4", "(6, 2, 16)", std::string(768, '\0'));
  write("p.npy", "<i4", "(5,)", std::string(20, '\0'));
  const struct {
    std::vector<std::string> more;
    std::vector<std::string> parts;
  } rows[] = {
      {{"--q", path("odd.npy")},
       {"--q ", "shape (6, 3, 16), expected (tokens, 4, 16)", "4 heads of 16 dims"}},
      {{"--k", path("odd.npy")}, {"--k ", "shape (6, 3, 16), expected (6, 2, 16)", "2 heads"}},
      {{"--k-out", path("more.npy")}, {"--k-out ", "shape (5, 2, 16), expected (6, 2, 16)"}},
      {{"--k", path("ints.npy")}, {"holds '<i4', expected '<u2'", "--k is of dtype bf16"}},
      {{"--k", path("third.npy")}, {"element 0 is 0.333", "no number of dtype bf16"}},
      {{"--positions", path("p.npy")}, {"shape (5), expected 6 positions"}},
      {{"--table", path("third.npy")}, {"shape (6, 2, 16), expected (rows, 8)"}},
      {{"--k", path("none.npy")}, {"none.npy: cannot be opened"}},
      {{"--v-out", path("kr.npy")}, {"no --v or --qkv"}},
      {{"--bias", path("kr.npy")}, {"qkv_bias is false"}},
      {{"--q-weight", path("kr.npy")}, {"no norm weights"}},
      {{"--axis", "pairing=neox,gptj"}, {"different cases; --filter"}},
      {{"--axis", "tokens=1,8"}, {"--axis tokens=1,8: verify judges one case", "--set KEY=VALUE"}},
  };
  for (const auto& row : rows) {
    std::vector<std::string> args = {"verify", "--config", path("c.json")};
    const std::pair<const char*, const char*> files[] = {
        {"--q", "q.npy"}, {"--k", "k.npy"}, {"--q-out", "qr.npy"}, {"--k-out", "kr.npy"}};
    for (const auto& [flag, file] : files) {
      if (row.more[0] != flag) args.insert(args.end(), {flag, path(file)});
    }
    args.insert(args.end(), row.more.begin(), row.more.end());
    const ProcessResult result = rope_bench(args);
    EXPECT_EQ(result.exit_code, 2) << row.more[0];
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    for (const std::string& part : row.parts)
      EXPECT_NE(result.err.find(part), std::string::npos) << part << "\n" << result.err;
  }
  const ProcessResult missing =
      rope_bench({"verify", "--config", path("c.json"), "--q", path("q.npy")});
  EXPECT_NE(missing.err.find("--k FILE is missing"), std::string::npos) << missing.err;
}

}  // namespace
}  // namespace rope_bench
