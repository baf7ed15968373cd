#include "generator/compile/compile.h"

#include <cstdlib>

#include "catch.h"
#include "device_source.h"
#include "generator/compile/process.h"
#include "temporary_folder.h"

using namespace mlaforge;
using namespace mlaforge::test;
namespace fs = std::filesystem;

namespace {

KernelSource source(const std::string& name, const std::string& text) {
  return {.name = name, .target = "gfx950", .text = text};
}

/// A program of that text.
fs::path make_program(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  write(folder / name, "#!/bin/sh\n" + text);
  fs::permissions(folder / name, fs::perms::owner_all);
  return folder / name;
}

}  // namespace

TEST_CASE("kernels compile in parallel, in order, and the second time come from the cache") {
  const TemporaryFolder cache;
  std::vector<KernelSource> sources;
  for (const char* name : {"c", "a", "b"}) sources.push_back(source(name, copying_kernel(name)));
  size_t calls = 0;
  const CompileOptions options{
      .cache = cache.path(), .jobs = 2, .progress = [&calls](size_t done, size_t total, const std::string&) {
        ++calls;
        CHECK(done == calls);
        CHECK(total == 3);
      }};
  const auto first = compile_kernels(sources, options);
  REQUIRE(first.has_value());
  CHECK(calls == 3);
  calls = 0;
  const auto second = compile_kernels(sources, options);
  REQUIRE(second.has_value());
  for (size_t i = 0; i < 3; ++i) {
    CHECK((*first)[i].name == sources[i].name);
    CHECK_FALSE((*first)[i].cached);
    CHECK((*second)[i].cached);
    CHECK((*second)[i].code_object == (*first)[i].code_object);
    CHECK_THAT((*second)[i].compiler, Catch::Matchers::Contains("clang") || Catch::Matchers::Contains("HIP"));
  }
  CHECK(read_all(cache.path()).size() == 2 * 3);  // each with its digest, and nothing else: no scratch is left
}

TEST_CASE("one source gives one code object, wherever it is compiled") {
  const TemporaryFolder cache_a;
  const TemporaryFolder cache_b;
  const auto a = compile_kernels({source("k", copying_kernel("k"))}, {.cache = cache_a.path()});
  const auto b = compile_kernels({source("k", copying_kernel("k"))}, {.cache = cache_b.path()});
  REQUIRE(a.has_value());
  REQUIRE(b.has_value());
  CHECK(read(a->front().code_object) == read(b->front().code_object));
}

TEST_CASE("another text is another entry; a damaged entry is compiled anew") {
  const TemporaryFolder cache;
  const CompileOptions options{.cache = cache.path()};
  const auto first = compile_kernels({source("k", copying_kernel("k"))}, options);
  REQUIRE(first.has_value());
  const auto other = compile_kernels({source("k", copying_kernel("k") + "// changed\n")}, options);
  REQUIRE(other.has_value());
  CHECK(other->front().code_object != first->front().code_object);

  const std::string good = read(first->front().code_object);
  std::string flipped = good;  // still a code object, of other code
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
  for (const std::string& damaged : {good.substr(0, 100), flipped}) {
    write(first->front().code_object, damaged);
    const auto again = compile_kernels({source("k", copying_kernel("k"))}, options);
    REQUIRE(again.has_value());
    CHECK_FALSE(again->front().cached);
    CHECK(read(again->front().code_object) == good);
  }
}

TEST_CASE("a cache in which nothing can be made is an error of every kernel, on every thread") {
  const auto result = compile_kernels({source("a", copying_kernel("a")), source("b", copying_kernel("b"))},
                                      {.cache = "/proc", .jobs = 2});
  REQUIRE_FALSE(result.has_value());
  CHECK(result.errors().size() == 2);
  CHECK(result.errors().front().where == "--cache");
  CHECK(result.errors().front().value == "/proc");
}

TEST_CASE("the compiler's own words are shown, for every kernel that fails") {
  const TemporaryFolder cache;
  const auto result = compile_kernels(
      {source("bad", "int f( {"), source("good", copying_kernel("good")), source("worse", "#error never")},
      {.cache = cache.path()});
  REQUIRE_FALSE(result.has_value());
  REQUIRE(result.errors().size() == 2);
  CHECK(result.errors()[0].where == "bad");
  CHECK_THAT(result.errors()[0].problem, Catch::Matchers::Contains("error: "));
  CHECK(result.errors()[1].where == "worse");
  CHECK_THAT(result.errors()[1].problem, Catch::Matchers::Contains("never"));
}

TEST_CASE("a kernel that spills, uses scratch or too much LDS fails the build") {
  const TemporaryFolder cache;
  const CompileOptions options{.cache = cache.path()};
  auto result = compile_kernels({source("k", spilling_kernel("k"))}, options);
  REQUIRE_FALSE(result.has_value());
  CHECK_THAT(to_string(result.errors()), Catch::Matchers::Contains("spilled VGPRs"));
  result = compile_kernels({source("k", spilling_kernel("k"))}, options);  // from the cache: still refused
  CHECK_FALSE(result.has_value());
  result = compile_kernels({source("k", scratch_kernel("k"))}, options);
  REQUIRE_FALSE(result.has_value());
  CHECK_THAT(to_string(result.errors()), Catch::Matchers::Contains("private memory"));
  result = compile_kernels({source("k", lds_kernel("k", 163'841))}, options);
  CHECK_FALSE(result.has_value());
}

TEST_CASE("compilers are found by option, by MLAFORGE_COMPILER and by name, and refused with what would do") {
  const TemporaryFolder folder;
  const auto refused = [](const std::string& request, const char* problem) {
    const auto compiler = find_compiler(request);
    REQUIRE_FALSE(compiler.has_value());
    CHECK(compiler.errors().front().value == request);
    CHECK_THAT(compiler.errors().front().problem, Catch::Matchers::Contains(problem));
    CHECK_THAT(compiler.errors().front().nearest, Catch::Matchers::Contains("clang++-22"));
  };
  refused("no-such-compiler", "no such program");
  refused("/bin/true", "does not say its version");
  refused(make_program(folder, "old", "echo 'clang version 19.1.7'\n").string(), "clang 19 does not know gfx950");
  refused(make_program(folder, "failing", "echo 'clang version 22.0.0'; exit 1\n").string(),
          "does not say its version");

  const auto hipcc = find_compiler(
      make_program(folder, "hipcc", "echo 'HIP version: 7.0'; echo 'AMD clang version 20.0.0git'\n").string());
  REQUIRE(hipcc.has_value());
  CHECK(hipcc->is_hipcc);
  CHECK(version_line(*hipcc) == "HIP version: 7.0");

  ::setenv("MLAFORGE_COMPILER", (folder / "hipcc").c_str(), 1);
  const auto by_variable = find_compiler("");
  ::unsetenv("MLAFORGE_COMPILER");
  REQUIRE(by_variable.has_value());
  CHECK(by_variable->path == folder / "hipcc");
}

TEST_CASE("arguments reach a program as they are, through no shell") {
  const TemporaryFolder folder;
  const std::string program =
      make_program(folder, "show", "for a in \"$@\"; do echo \"[$a]\"; done; echo err >&2; exit 3\n").string();
  const auto result = run_process({program, "a b", "$HOME", "; ls", "*", ""});
  REQUIRE(result.has_value());
  CHECK(result->output == "[a b]\n[$HOME]\n[; ls]\n[*]\n[]\nerr\n");
  CHECK(result->exit_code == 3);
  CHECK_FALSE(run_process({(folder / "absent").string()}).has_value());
  const auto killed = run_process({make_program(folder, "dies", "kill -9 $$\n").string()});
  REQUIRE(killed.has_value());
  CHECK(killed->exit_code == 128 + 9);
}

TEST_CASE("the cache's folder follows the XDG rules") {
  const char* old = std::getenv("XDG_CACHE_HOME");
  const std::string kept = old != nullptr ? old : "";
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  CHECK(default_cache() == "/somewhere/mlaforge");
  ::setenv("XDG_CACHE_HOME", "relative", 1);  // invalid by the rules: ignored
  CHECK(default_cache() == fs::path(std::getenv("HOME")) / ".cache" / "mlaforge");
  if (old != nullptr) {
    ::setenv("XDG_CACHE_HOME", kept.c_str(), 1);
  } else {
    ::unsetenv("XDG_CACHE_HOME");
  }
}
