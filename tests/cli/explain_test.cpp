// What `mlaforge explain` prints: figures that docs/kernel.md and hand arithmetic give, and refusals with a way out.
#include <nlohmann/json.hpp>

#include "../generator/temporary_folder.h"
#include "catch.h"
#include "command_line.h"

using namespace mlaforge::test;
using Json = nlohmann::json;
using Catch::Matchers::Contains;

namespace {

const std::string kimi = "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s85_p1__gfx950";

Json explained(const std::string& name) {
  const Outcome outcome = mlaforge_command({"explain", name, "--no-compile", "--json"});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return Json::parse(outcome.out).at("kernels").at(0);
}

}  // namespace

TEST_CASE("a block's traffic and clocks are those of the budget") {
  const Json kernel = explained(kimi);
  const Json& traffic = kernel.at("lds_traffic");
  CHECK(traffic.at("dma_writes") == 128 * 576);
  CHECK(traffic.at("key_reads") == 128 * 576);
  CHECK(traffic.at("value_reads") == 128 * 512);
  CHECK(traffic.at("probability_writes") == 16 * 128 * 2);
  CHECK(traffic.at("probability_reads") == 8 * 16 * 128 * 2);
  CHECK(kernel.at("clocks").at("mfma") == 1088);        // (9 + 8) x 8 MFMAs of 32 clocks on 4 SIMDs
  CHECK(kernel.at("clocks").at("hbm") == 8101);         // 73,728 B / 9.1 B
  CHECK(kernel.at("clocks").at("hbm_shared") == 2700);  // among 3 head groups
  CHECK(kernel.at("compiled").is_null());
}

TEST_CASE("the LDS map adds up and holds two slots of 128 rows") {
  for (const std::string& name :
       {kimi, kimi + "_ws", std::string("mla_decode_bf16q_fp8kv_h16_g1_q1_b64_s8_p64__gfx950")}) {
    const Json plan = explained(name).at("plan");
    int bytes = 0;
    for (const Json& region : plan.at("lds")) {
      bytes += region.at("bytes").get<int>();
    }
    CHECK(bytes == plan.at("lds_bytes"));
    CHECK(plan.at("lds").at(0).at("bytes") == 2 * plan.at("block_tokens").get<int>() * 576);
    CHECK(bytes <= (plan.at("block_tokens") == 128 ? 163840 : 81920));
  }
}

TEST_CASE("groups have neighbouring heads, and say how many rows are masked") {
  const Json kernel = explained("mla_decode_bf16q_fp8kv_h20_g3_q2_b128_s1_p1__gfx950");
  const Json& groups = kernel.at("head_groups");
  REQUIRE(groups.size() == 3);  // 7, 7 and 6 heads x 2 positions of 16 rows
  CHECK(groups.at(0) == Json{{"group", 0}, {"first_head", 0}, {"last_head", 6}, {"masked_rows", 2}});
  CHECK(groups.at(1) == Json{{"group", 1}, {"first_head", 7}, {"last_head", 13}, {"masked_rows", 2}});
  CHECK(groups.at(2) == Json{{"group", 2}, {"first_head", 14}, {"last_head", 19}, {"masked_rows", 4}});
}

TEST_CASE("the waves of both pipelines have their roles") {
  CHECK(explained(kimi).at("wave_roles").size() == 1);
  const Json roles = explained(kimi + "_ws").at("wave_roles");
  REQUIRE(roles.size() == 2);
  CHECK_THAT(roles.at(0).at("role").get<std::string>(), Contains("QK and softmax of 32 tokens"));
  CHECK_THAT(roles.at(1).at("role").get<std::string>(), Contains("PV of 128 latents"));
}

TEST_CASE("the text shows every part of a plan") {
  const Outcome outcome = mlaforge_command({"explain", kimi, "--no-compile"});
  REQUIRE(outcome.exit_code == 0);
  for (const char* part :
       {"rows: 4 heads x 4 positions = 16 in 1 tile of 16", "group 2   heads 8 .. 11, 0 rows masked",
        "LDS: ", "147456 B", "waves: 8 of 64 lanes, 2 a SIMD", "DMA: 9 steps of 1024 B",
        "MFMA    1088  72 of QK, 64 of PV", "VGPRs planned, 256 allowed", "combine: mla_combine_bf16p_s85__gfx950"}) {
    CHECK_THAT(outcome.out, Contains(part));
  }
}

TEST_CASE("registers as compiled stand beside those planned") {
  const TemporaryFolder folder;
  const Outcome outcome = mlaforge_command({"explain", kimi, "--json", "--cache", (folder / "cache").string()});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const Json kernel = Json::parse(outcome.out).at("kernels").at(0);
  CHECK(kernel.at("compiled").at("vgprs").get<int>() > 128);
  CHECK(kernel.at("compiled").at("vgprs").get<int>() <= 256);
  CHECK(kernel.at("compiled").at("lds_bytes") == kernel.at("plan").at("lds_bytes"));
}

TEST_CASE("a kernel that does not fit is refused with its numbers and the nearest that fits") {
  const Outcome outcome =
      mlaforge_command({"explain", "mla_decode_bf16q_fp8kv_h128_g1_q1_b128_s1_p1__gfx950", "--json"});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("head_groups") && Contains("128 rows are 8 row tiles") &&
                              Contains("VGPRs a lane of at most 256") &&
                              Contains("186368 bytes of LDS of at most 163840"));
  CHECK_THAT(outcome.err, Contains("mla_decode_bf16q_fp8kv_h128_g8_q1_b128_s1_p1__gfx950"));
  CHECK(Json::parse(outcome.out).at("errors").size() == 1);
}

TEST_CASE("a name outside the grammar, and NAME with --config, are bad input") {
  CHECK(mlaforge_command({"explain", "mla_decode_fp4q"}).exit_code == 2);
  CHECK(mlaforge_command({"explain", kimi, "--config", "x.json"}).exit_code == 2);
}
