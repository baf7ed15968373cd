#include "generator/variants/variant.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

namespace mlaforge {
namespace {

constexpr std::string_view kPrefix = "mla_decode_";
constexpr std::string_view kTargets[] = {"gfx950"};

/// Dtypes as names spell them: without what is always the same.
constexpr std::pair<std::string_view, mlaforge_dtype> kShortDtypes[] = {
    {"bf16", MLAFORGE_BF16}, {"f32", MLAFORGE_F32}, {"fp8", MLAFORGE_FP8_E4M3}};

std::string_view short_name(mlaforge_dtype dtype) {
  for (const auto& [name, value] : kShortDtypes) {
    if (value == dtype) return name;
  }
  return "unknown";
}

/// Walks over a name; the first failure is kept, later steps then do nothing.
class NameReader {
 public:
  explicit NameReader(std::string_view name) : name_(name) {}

  void literal(std::string_view text) {
    if (!rest().starts_with(text)) return fail(fmt::format("\"{}\"", text));
    position_ += text.size();
  }

  bool option(std::string_view text) {
    if (error_ || !rest().starts_with(text)) return false;
    position_ += text.size();
    return true;
  }

  /// A number in decimal, without leading zeros.
  int number(std::string_view what, int low, int high) {
    const std::string_view text = rest();
    int value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool canonical = code == std::errc() && text[0] != '-' && (text[0] != '0' || end == text.data() + 1);
    if (!canonical || value < low || value > high) {
      fail(fmt::format("{} from {} to {}", what, low, high));
      return low;
    }
    position_ += static_cast<size_t>(end - text.data());
    return value;
  }

  mlaforge_dtype dtype(std::string_view what, std::initializer_list<mlaforge_dtype> choices, std::string_view suffix) {
    std::string allowed;
    for (const mlaforge_dtype choice : choices) {
      const std::string text = fmt::format("{}{}", short_name(choice), suffix);
      if (option(text)) return choice;
      allowed += fmt::format("{}\"{}\"", allowed.empty() ? "" : " or ", text);
    }
    fail(fmt::format("{}: {}", what, allowed));
    return *choices.begin();
  }

  std::string target() {
    for (const std::string_view target : kTargets) {
      if (option(target)) return std::string(target);
    }
    fail(fmt::format("a target: {}", fmt::join(kTargets, ", ")));
    return "";
  }

  void end() {
    if (position_ != name_.size())
      fail("the name's end, or a suffix that is not its default, in the order _ws _wide _cpN _f32p _pp1");
  }

  void fail(std::string allowed) {
    if (error_) return;
    error_ = Diagnostic{.where = std::string(name_),
                        .problem = fmt::format("not a kernel's name from character {} on", position_ + 1),
                        .value = std::string(rest()),
                        .allowed = std::move(allowed)};
  }

  const std::optional<Diagnostic>& error() const { return error_; }

 private:
  std::string_view rest() const { return name_.substr(position_); }

  std::string_view name_;
  size_t position_ = 0;
  std::optional<Diagnostic> error_;
};

bool is_power_of_two(int value) { return (value & (value - 1)) == 0; }

}  // namespace

std::string_view dtype_name(mlaforge_dtype dtype) {
  return dtype == MLAFORGE_BF16 ? "bf16" : dtype == MLAFORGE_F32 ? "f32" : "fp8_e4m3";
}

std::string_view pipeline_name(mlaforge_pipeline pipeline) {
  return pipeline == MLAFORGE_UNIFORM ? "uniform" : "warp_specialized";
}

std::string format(const Variant& v) {
  std::string name =
      fmt::format("{}{}q_{}kv_h{}_g{}_q{}_b{}_s{}_p{}__{}", kPrefix, short_name(v.q_dtype), short_name(v.kv_dtype),
                  v.heads, v.head_groups, v.qlen, v.block_tokens, v.splits, v.page_size, v.target);
  if (v.pipeline == MLAFORGE_WARP_SPECIALIZED) name += "_ws";
  if (v.wide_kv) name += "_wide";
  if (v.context_parallel != 1) name += fmt::format("_cp{}", v.context_parallel);
  if (v.partial_dtype == MLAFORGE_F32) name += "_f32p";
  if (v.probability_parts == 1) name += "_pp1";
  return name;
}

Expected<Variant> parse(std::string_view name) {
  NameReader reader(name);
  Variant v;
  reader.literal(kPrefix);
  v.q_dtype = reader.dtype("the query's dtype", {MLAFORGE_BF16, MLAFORGE_FP8_E4M3}, "q_");
  v.kv_dtype = reader.dtype("the cache's dtype", {MLAFORGE_FP8_E4M3}, "kv_");
  reader.literal("h");
  v.heads = reader.number("heads a rank", 1, 128);
  reader.literal("_g");
  v.head_groups = reader.number("head groups", 1, v.heads);
  reader.literal("_q");
  v.qlen = reader.number("a query length", 1, 8);
  reader.literal("_b");
  v.block_tokens = reader.number("a block of 64 or 128 tokens,", 64, 128);
  if (v.block_tokens != 64 && v.block_tokens != 128) reader.fail("a block of 64 or 128 tokens before this");
  reader.literal("_s");
  v.splits = reader.number("splits", 1, 256);
  reader.literal("_p");
  v.page_size = reader.number("a page size, a power of two,", 1, 256);
  if (!is_power_of_two(v.page_size)) reader.fail("a page size that is a power of two before this");
  reader.literal("__");
  v.target = reader.target();
  if (reader.option("_ws")) v.pipeline = MLAFORGE_WARP_SPECIALIZED;
  v.wide_kv = reader.option("_wide");
  if (reader.option("_cp")) {
    v.context_parallel = reader.number("a context-parallel world of 2, 4 or 8,", 2, 8);
    if (!is_power_of_two(v.context_parallel)) reader.fail("a context-parallel world of 2, 4 or 8 before this");
  }
  if (reader.option("_f32p")) v.partial_dtype = MLAFORGE_F32;
  if (reader.option("_pp1")) v.probability_parts = 1;
  reader.end();
  if (reader.error()) return *reader.error();
  return v;
}

nlohmann::json to_json(const Variant& v) {
  return {{"heads", v.heads},
          {"qlen", v.qlen},
          {"page_size", v.page_size},
          {"query_dtype", dtype_name(v.q_dtype)},
          {"kv_dtype", dtype_name(v.kv_dtype)},
          {"context_parallel", v.context_parallel},
          {"wide_kv", v.wide_kv},
          {"splits", v.splits},
          {"head_groups", v.head_groups},
          {"block_tokens", v.block_tokens},
          {"pipeline", pipeline_name(v.pipeline)},
          {"partial_dtype", dtype_name(v.partial_dtype)},
          {"probability_parts", v.probability_parts},
          {"target", v.target}};
}

}  // namespace mlaforge
