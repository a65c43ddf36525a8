// The runner end to end on the CPU, with right variants and planted faults: every wrong kernel
// fails, in the check or in its timed launches, and every row ends in a status.
#include "src/measure/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "src/case/token_rows.h"
#include "src/math/token_sample.h"
#include "src/measure/machine.h"
#include "tests/measure/planted_backend.h"

namespace rope_bench {
namespace {

RopeCase small_case(bool in_place) {
  RopeCase c;
  c.name = "small";
  c.num_heads = 4;
  c.num_kv_heads = 2;
  c.head_dim = 64;
  c.rope.rotary_dim = 32;
  c.tokens = 5;
  c.positions.offset = 3;
  c.max_position = 64;
  c.layout.in_place = in_place;
  c.measure.max_time_s = 0.01;
  return c;
}

Result run_one(const RopeCase& c, int32_t (*launch)(const RopeKernelArgs*), bool measure = false) {
  RunOptions options;
  options.measure = measure;
  const std::vector<Result> results = make_runner(planted_backend(launch))->run({c}, options);
  EXPECT_EQ(results.size(), 1u);
  return results.at(0);
}

uint16_t* out16(const RopeTensor& t) { return static_cast<uint16_t*>(t.out); }

TEST(Runner, ARightKernelPassesAndIsTimed) {
  for (const bool in_place : {true, false}) {
    const Result r = run_one(small_case(in_place), right_launch, true);
    EXPECT_EQ(r.status, Status::kPassed) << r.reason;
    ASSERT_TRUE(r.timing);
    EXPECT_GT(r.timing->median_us, 0);
    EXPECT_GT(r.timing->limit_us.value_or(0), 0);
    EXPECT_LE(r.accuracy->max_ulp, r.accuracy->tolerance_ulp);
    EXPECT_EQ(r.timing->num_sets > 1, true);
  }
}

struct Fault {
  const char* name;
  bool in_place;
  int32_t (*launch)(const RopeKernelArgs*);
  const char* reason;  // part of it
};

std::atomic<int> launches;

const Fault kFaults[] = {
    {"nothing is done", true, [](const RopeKernelArgs*) { return 0; }, "beyond their bound"},
    {"nothing is written", false, [](const RopeKernelArgs*) { return 0; }, "beyond their bound"},
    {"the other pairing", true,
     [](const RopeKernelArgs* args) {
       RopeKernelArgs other = *args;
       other.pairing = 1 - other.pairing;
       return right_launch(&other);
     },
     "beyond their bound"},
    {"the last token is left out", false,
     [](const RopeKernelArgs* args) {
       RopeKernelArgs fewer = *args;
       fewer.num_tokens -= 1;
       return right_launch(&fewer);
     },
     "beyond their bound"},
    {"k is rotated as if it were q's head 0", true,
     [](const RopeKernelArgs* args) {
       right_launch(args);
       std::memcpy(args->k.out, args->q.out, 64);
       return 0;
     },
     "beyond their bound"},
    {"one element behind the tensor", true,
     [](const RopeKernelArgs* args) {
       right_launch(args);
       out16(args->k)[args->num_tokens * args->k.out_token_stride] = 1;
       return 0;
     },
     "guard band"},
    {"one element before the tensor", false,
     [](const RopeKernelArgs* args) {
       right_launch(args);
       out16(args->q)[-1] = 1;
       return 0;
     },
     "guard band"},
    {"the input is changed", false,
     [](const RopeKernelArgs* args) {
       right_launch(args);
       static_cast<uint16_t*>(const_cast<void*>(args->q.in))[40] = 0x4242;
       return 0;
     },
     "input q"},
    {"a pass-through dim is changed", true,
     [](const RopeKernelArgs* args) {
       right_launch(args);
       out16(args->q)[33] ^= 1;
       return 0;
     },
     "beyond their bound"},
    {"right once, then nothing", false,
     [](const RopeKernelArgs* args) { return launches++ == 0 ? right_launch(args) : 0; },
     "second launch"},
};

TEST(Runner, PlantedFaultsFailTheCheck) {
  for (const Fault& fault : kFaults) {
    launches = 0;
    const Result r = run_one(small_case(fault.in_place), fault.launch);
    EXPECT_EQ(r.status, Status::kFailed) << fault.name;
    EXPECT_NE(r.reason.find(fault.reason), std::string::npos) << fault.name << ": " << r.reason;
    EXPECT_FALSE(r.timing) << fault.name;
  }
}

// C133: right whenever it is looked at, wrong while it is timed: after the two checked launches
// every third is skipped.
TEST(Runner, TimedLaunchesAreJudged) {
  for (const bool in_place : {true, false}) {
    launches = 0;
    const Result r = run_one(
        small_case(in_place),
        [](const RopeKernelArgs* args) {
          return launches++ >= 2 && launches % 3 == 0 ? 0 : right_launch(args);
        },
        true);
    EXPECT_EQ(r.status, Status::kFailed);
    EXPECT_NE(r.reason.find("timed launches are wrong"), std::string::npos) << r.reason;
  }
}

// The first set that is wrong is looked at as the timed launches left it. Cold, every launch has a
// set of its own.
TEST(Runner, WrongTimedLaunchesAreLocatedAndDiagnosed) {
  for (const bool in_place : {true, false}) {
    launches = 0;
    const Result r = run_one(
        small_case(in_place),
        [](const RopeKernelArgs* args) {
          if (launches++ < 2) return right_launch(args);
          RopeKernelArgs other = *args;
          other.op = ROPE_OP_ROPE_BACKWARD;
          return right_launch(&other);
        },
        true);
    EXPECT_EQ(r.status, Status::kFailed);
    EXPECT_EQ(r.diagnosis.name, "timed_launches");
    EXPECT_NE(r.diagnosis.text.find("negated_sin: "), std::string::npos) << r.diagnosis.text;
    EXPECT_NE(r.reason.find("[token "), std::string::npos) << r.reason;
    EXPECT_NE(r.reason.find("should be "), std::string::npos) << r.reason;
  }
}

// Warm and in place launches follow each other on a set: the judge says where it is wrong.
TEST(Runner, RepeatedTimedLaunchesAreLocatedByTheJudge) {
  RopeCase c = small_case(true);
  c.measure.cache = {CacheMode::kWarm};
  launches = 0;
  const Result r = run_one(
      c,
      [](const RopeKernelArgs* args) {
        right_launch(args);
        // Pair 6 of head 1 of k at token 3.
        if (launches++ >= 2) out16(args->k)[3 * args->k.out_token_stride + 64 + 6] ^= 0x4000;
        return 0;
      },
      true);
  EXPECT_EQ(r.status, Status::kFailed);
  EXPECT_NE(r.reason.find(": k[token 3, head 1, dims 6 and 22] after "), std::string::npos)
      << r.reason;
  EXPECT_NE(r.reason.find(" launches in place"), std::string::npos) << r.reason;
  EXPECT_EQ(r.diagnosis.name, "timed_launches");
}

// Sets move to other memory between rounds. What a timed launch did at a place that they have left
// is found all the same; and right kernels pass wherever they lie.
TEST(Runner, DamageAtPlacesThatTheSetsHaveLeftIsFound) {
  for (const bool in_place : {true, false}) {
    RopeCase c = small_case(in_place);
    c.measure.max_time_s = 60;
    c.measure.precision = 1;  // ten rounds
    const Result right = run_one(c, right_launch, true);
    EXPECT_EQ(right.status, Status::kPassed) << right.reason;
    ASSERT_TRUE(right.timing);
    EXPECT_EQ(right.timing->num_rounds, 10);
    launches = 0;
    const Result r = run_one(
        c,
        [](const RopeKernelArgs* args) {
          right_launch(args);
          if (launches++ == 4) out16(args->q)[-1] = 1;
          return 0;
        },
        true);
    EXPECT_EQ(r.status, Status::kFailed);
    EXPECT_NE(r.reason.find("guard band"), std::string::npos) << r.reason;
  }
}

// C132, C136.
TEST(Runner, AFailingLaunchIsAnErrorRowAndTheNextRowRuns) {
  launches = 0;
  const RopeCase c = small_case(true);
  RunOptions options;
  options.measure = false;
  const auto results = make_runner(planted_backend([](const RopeKernelArgs* args) {
                         return launches++ == 0 ? 1 : right_launch(args);
                       }))->run({c, c}, options);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].status, Status::kError);
  EXPECT_EQ(results[1].status, Status::kPassed) << results[1].reason;
}

// C134: the fault of the second row is seen late, is blamed on that row, and ends the others.
TEST(Runner, ALostContextIsBlamedOnItsRow) {
  static std::atomic<bool> lost;
  lost = false;
  launches = 0;
  RunOptions options;
  options.measure = false;
  std::vector<RopeCase> cases(4, small_case(true));
  for (size_t i = 0; i < cases.size(); ++i) cases[i].name = "row" + std::to_string(i);
  const auto results = make_runner(planted_backend(
                                       [](const RopeKernelArgs* args) {
                                         // A row that is only checked has two launches.
                                         if (launches++ == 2) lost = true;
                                         return right_launch(args);
                                       },
                                       &lost))
                           ->run(cases, options);
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0].status, Status::kPassed) << results[0].reason;
  EXPECT_EQ(results[1].status, Status::kError);
  EXPECT_EQ(results[1].reason, "synchronize: an illegal memory access");
  for (const size_t i : {2, 3}) {
    EXPECT_EQ(results[i].status, Status::kError);
    EXPECT_EQ(results[i].reason, "not run: the device's context was lost in row1");
    EXPECT_FALSE(results[i].timing);
  }
}

TEST(Runner, RowsThatDoNotRunSayWhy) {
  RopeCase scaled = small_case(true);
  scaled.rope.query_scale = QueryScale{0.1, 16};
  RopeCase variant = small_case(true);
  variant.variant = "per_head";
  RopeCase skipped = small_case(true);
  skipped.skip_reason = "rotary_dim 96 > head_dim 64";
  RopeCase huge = small_case(true);
  huge.tokens = int64_t{1} << 40;
  const auto results = make_runner(planted_backend(right_launch))
                           ->run({scaled, variant, skipped, huge}, RunOptions{});
  ASSERT_EQ(results.size(), 4u);
  const std::pair<Status, const char*> want[] = {
      {Status::kUnsupported, "query_scale"},
      {Status::kUnsupported, "no variant per_head of op rope on cpu"},
      {Status::kSkipped, "rotary_dim 96"},
      {Status::kOutOfMemory, "memory"},
  };
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(results[i].status, want[i].first) << i << ": " << results[i].reason;
    EXPECT_NE(results[i].reason.find(want[i].second), std::string::npos)
        << i << ": " << results[i].reason;
    EXPECT_FALSE(results[i].timing);
  }
}

// A table that memory holds once, but not as often as a run does.
TEST(Runner, ALargeTableIsRefusedBeforeItIsFormed) {
  RopeCase c = small_case(true);
  c.rope.table.rows =
      static_cast<int64_t>(available_memory_bytes()) / (c.rope.rotary_dim * 4 * 5 / 2);
  const Result r = run_one(c, right_launch, true);
  EXPECT_EQ(r.status, Status::kOutOfMemory);
  const std::string rows = std::to_string(*c.rope.table.rows);
  EXPECT_NE(r.reason.find("most of it for a table of " + rows + " rows"), std::string::npos)
      << r.reason;
}

// C049: no tokens is a legal size.
TEST(Runner, ZeroTokensPassWithoutTimes) {
  RopeCase c = small_case(true);
  c.tokens = 0;
  const Result r = run_one(c, right_launch, true);
  EXPECT_EQ(r.status, Status::kPassed);
  EXPECT_FALSE(r.timing);
}

TEST(Runner, InterruptionKeepsFinishedRows) {
  const RopeCase c = small_case(true);
  RunOptions options;
  options.measure = false;
  int finished = 0;
  options.on_result = [&](const Result&, size_t, size_t) { ++finished; };
  options.interrupted = [&] { return finished == 2; };
  EXPECT_EQ(make_runner(planted_backend(right_launch))->run({c, c, c, c}, options).size(), 2u);
}

// Strided rows: gaps keep their bytes, and a write into one is found.
TEST(Runner, GapsBetweenRowsAreWatched) {
  RopeCase c = small_case(true);
  c.layout.q.token_stride = 4 * 64 + 32;
  EXPECT_EQ(run_one(c, right_launch).status, Status::kPassed);
  const Result r = run_one(c, [](const RopeKernelArgs* args) {
    right_launch(args);
    out16(args->q)[4 * 64 + 3] = 1;
    return 0;
  });
  EXPECT_EQ(r.status, Status::kFailed);
  EXPECT_NE(r.reason.find("gaps"), std::string::npos) << r.reason;
}

// C188: at position 0 nothing turns, and a kernel that does nothing passes in place. The row says
// so.
TEST(Runner, RowsThatProveNothingSaySo) {
  RopeCase c = small_case(true);
  c.tokens = 1;
  c.positions.offset = 0;
  const Result idle = run_one(c, [](const RopeKernelArgs*) { return 0; });
  EXPECT_EQ(idle.status, Status::kPassed);
  EXPECT_EQ(idle.labels, std::vector<std::string>({"identity"}));
  c.positions.offset = 1;
  EXPECT_TRUE(run_one(c, right_launch).labels.empty());
  EXPECT_EQ(run_one(c, [](const RopeKernelArgs*) { return 0; }).status, Status::kFailed);
}

// Where x = y in every pair, a kernel that exchanges the two is not seen.
TEST(Runner, InputsThatTellNothingAreLabelled) {
  RopeCase c = small_case(true);
  c.data = DataKind::kConstant;
  EXPECT_EQ(run_one(c, right_launch).labels, std::vector<std::string>({"symmetric-pairs"}));
  EXPECT_EQ(run_one(c, right_launch, true).labels.back(), "symmetric-pairs");
  c.data = DataKind::kNormal;
  EXPECT_TRUE(run_one(c, right_launch).labels.empty());
}

// The second checked launch reads the negated inputs, and so do the timed ones: what a kernel kept
// from its first launch is wrong in both.
TEST(Runner, OutputsKeptFromTheFirstLaunchAreWrong) {
  static std::vector<std::byte> kept;
  kept.clear();
  const Result r = run_one(small_case(false), [](const RopeKernelArgs* args) {
    const size_t bytes = static_cast<size_t>(args->num_tokens * args->q.out_token_stride) * 2;
    right_launch(args);
    auto* out = static_cast<std::byte*>(args->q.out);
    if (kept.empty()) kept.assign(out, out + bytes);
    std::memcpy(out, kept.data(), bytes);
    return 0;
  });
  EXPECT_EQ(r.status, Status::kFailed);
  EXPECT_EQ(r.diagnosis.name, "second_launch");
  EXPECT_EQ(r.reason.find("beyond their bound"), std::string::npos) << r.reason;
}

// Only the first reason has a diagnosis, and a right row has none.
TEST(Runner, AFailedRowHasADiagnosis) {
  EXPECT_EQ(run_one(small_case(true), right_launch).diagnosis.name, "");
  const Result r = run_one(small_case(true), [](const RopeKernelArgs* args) {
    RopeKernelArgs other = *args;
    other.pairing = 1 - other.pairing;
    right_launch(&other);
    out16(args->k)[args->num_tokens * args->k.out_token_stride] = 1;
    return 0;
  });
  EXPECT_EQ(r.diagnosis.name, "other_pairing");
  EXPECT_NE(r.reason.find("guard band"), std::string::npos) << r.reason;
}

// Above a size a sample of tokens is compared in double; the device judges all of them.
TEST(Runner, LargeOutputsAreSampled) {
  RopeCase c = small_case(false);
  c.tokens = 200;
  c.max_position = 256;
  RunOptions options;
  options.measure = false;
  options.checks.most_elements = 200 * 8 * 64;
  const auto run = [&](int32_t (*launch)(const RopeKernelArgs*)) {
    return make_runner(planted_backend(launch))->run({c}, options).at(0);
  };
  Result r = run(right_launch);
  EXPECT_EQ(r.status, Status::kPassed) << r.reason;
  EXPECT_FALSE(r.accuracy->sampled);
  EXPECT_EQ(r.accuracy->num_tokens_compared, 200);
  EXPECT_TRUE(r.labels.empty());

  --options.checks.most_elements;
  r = run(right_launch);
  EXPECT_EQ(r.status, Status::kPassed) << r.reason;
  EXPECT_TRUE(r.accuracy->sampled);
  EXPECT_EQ(r.accuracy->num_tokens_compared, 64);
  EXPECT_EQ(r.accuracy->num_compared, 64 * 6 * 32);  // the rotated dims of q and k
  EXPECT_EQ(r.labels, std::vector<std::string>({"sampled"}));

  // Wrong in a token that is not in the sample: the judge sees it, and then everything is compared.
  static int64_t token;
  const std::vector<int64_t> sample = sample_tokens(c, token_rows_of(c), 64);
  for (token = 0; std::binary_search(sample.begin(), sample.end(), token);) ++token;
  r = run([](const RopeKernelArgs* args) {
    right_launch(args);
    out16(args->q)[token * args->q.out_token_stride + 64 + 5] ^= 0x40;
    return 0;
  });
  EXPECT_EQ(r.status, Status::kFailed);
  EXPECT_FALSE(r.accuracy->sampled);
  EXPECT_EQ(r.accuracy->num_over, 1);
  EXPECT_EQ(r.accuracy->worst->token, token);
  EXPECT_EQ(r.accuracy->worst->head, 1);
  EXPECT_EQ(r.accuracy->worst->dim, 5);
  EXPECT_EQ(r.diagnosis.name, "none");
}

TEST(TokenSample, HoldsTheEndsAndBothSidesOf65536) {
  RopeCase c = small_case(true);
  c.tokens = 70000;
  c.positions.kind = PositionKind::kExplicit;
  c.positions.offset = 0;
  c.positions.list.assign(70000, 7);
  c.positions.list[123] = 3;
  c.positions.list[45678] = 90;
  const std::vector<int64_t> sample = sample_tokens(c, token_rows_of(c), 16, 777);
  EXPECT_EQ(sample.size(), 16u);
  EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end()));
  for (const int64_t token : {0, 123, 777, 45678, 65535, 65536, 69999})
    EXPECT_TRUE(std::binary_search(sample.begin(), sample.end(), token)) << token;
  EXPECT_EQ(sample, sample_tokens(c, token_rows_of(c), 16, 777));
  c.seed = 1;
  EXPECT_NE(sample, sample_tokens(c, token_rows_of(c), 16, 777));
  c.tokens = 16;
  c.positions.list.resize(16);
  EXPECT_EQ(sample_tokens(c, token_rows_of(c), 16).size(), 16u);
}

TEST(Runner, OneRowPerCacheMode) {
  RopeCase c = small_case(true);
  c.measure.cache = {CacheMode::kCold, CacheMode::kWarm};
  RunOptions options;
  const auto results = make_runner(planted_backend(right_launch))->run({c}, options);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].cache, CacheMode::kCold);
  EXPECT_EQ(results[1].cache, CacheMode::kWarm);
  for (const Result& r : results) EXPECT_EQ(r.status, Status::kPassed) << r.reason;
}

}  // namespace
}  // namespace rope_bench
