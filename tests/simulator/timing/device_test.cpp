// The device file: every number with a range and a source; bad files are refused by name.
#include <nlohmann/json.hpp>

#include "catch.h"
#include "simulator/timing/mi355x_text.h"
#include "simulator/timing/parameters.h"

using namespace mlaforge::simulator::timing;

namespace {

std::string problem_of(const nlohmann::json& json) {
  try {
    parse_device_file(json.dump());
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

nlohmann::json good() { return nlohmann::json::parse(mi355x_text()); }

}  // namespace

TEST_CASE("The built-in file says what the chip's figures are") {
  const Parameters p = parameters_at(mi355x(), Point::nominal);
  CHECK(p.xcds * p.cus_per_xcd == 256);
  CHECK(p.clock_ghz == 2.4);
  CHECK(p.hbm_tb_s == 5.8);
  CHECK(parameters_at(mi355x(), Point::slow).hbm_tb_s == 5.6);
  CHECK(parameters_at(mi355x(), Point::fast).hbm_tb_s == 6.4);
  for (const ParameterRow& row : mi355x().rows) {
    CAPTURE(row.name);
    // What is not well known must say so by a range.
    if (row.confidence == "C") CHECK(row.low < row.high);
  }
}

TEST_CASE("The fast end is fast and the slow end slow, whichever way a number counts") {
  const Parameters fast = parameters_at(mi355x(), Point::fast);
  const Parameters slow = parameters_at(mi355x(), Point::slow);
  CHECK(fast.hbm_tb_s > slow.hbm_tb_s);
  CHECK(fast.hbm_latency_clk < slow.hbm_latency_clk);
  CHECK(fast.launch_us < slow.launch_us);
  CHECK(fast.cu_outstanding_bytes > slow.cu_outstanding_bytes);
}

TEST_CASE("Bad device files name the parameter and what is allowed") {
  nlohmann::json json = good();
  json["parameters"].erase("hbm_tb_s");
  CHECK(problem_of(json) == "device file: /parameters/hbm_tb_s is missing");
  json = good();
  json["parameters"]["valu_clk"]["low"] = 5;
  CHECK(problem_of(json).find("/parameters/valu_clk: low 5, value 4") != std::string::npos);
  json = good();
  json["parameters"]["hbm_gb"] = json["parameters"]["hbm_tb_s"];
  CHECK(problem_of(json) == "device file, /parameters/hbm_gb: no such parameter");
  json = good();
  json["parameters"]["clock_ghz"]["confidence"] = "D";
  CHECK(problem_of(json).find("confidence \"D\"; allowed: A, B, C") != std::string::npos);
  json = good();
  json["parameters"]["clock_ghz"]["source"] = "";
  CHECK(problem_of(json).find("/parameters/clock_ghz: no source") != std::string::npos);
  json = good();
  json["parameters"]["clock_ghz"]["faster"] = "up";
  CHECK(problem_of(json).find("faster is \"up\"; allowed: low, high") != std::string::npos);
  CHECK_THROWS_AS(parse_device_file("{"), std::runtime_error);
}
