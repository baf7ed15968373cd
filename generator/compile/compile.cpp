#include "generator/compile/compile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "generator/compile/process.h"
#include "generator/embedded.h"
#include "generator/emit/files.h"
#include "generator/emit/sha256.h"

namespace mlaforge {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kContractPath = "runtime/include/mlaforge/kernel_contract.h";

/// A folder of its own for one compilation, gone with it.
class ScratchFolder {
 public:
  explicit ScratchFolder(const fs::path& cache) {
    static std::atomic<unsigned> counter{0};
    path_ = cache / fmt::format("{}{}-{}", kTemporaryPrefix, ::getpid(), counter++);
    fs::create_directories(path_ / "include" / "mlaforge", error_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const fs::path& path() const { return path_; }
  const std::error_code& error() const { return error_; }

 private:
  fs::path path_;
  std::error_code error_;
};

/// Scratch that a killed run left: no compilation takes an hour.
void remove_old_scratch(const fs::path& cache) {
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  std::error_code ignored;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator entry(cache, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    std::error_code gone;
    const fs::path& path = entry->path();
    if (path.filename().string().starts_with(kTemporaryPrefix) && fs::last_write_time(path, gone) < old && !gone)
      leftovers.push_back(path);
  }
  for (const fs::path& path : leftovers) fs::remove_all(path, ignored);
}

/// What a compiler is, beyond its words: an updated binary is another compiler.
std::string identity(const Compiler& compiler) {
  std::error_code ignored;
  const fs::path real = fs::canonical(compiler.path, ignored);
  return fmt::format("{}\n{}\n{}\n{}", real.string(), fs::file_size(real, ignored),
                     fs::last_write_time(real, ignored).time_since_epoch().count(), compiler.version);
}

std::string cache_key(const KernelSource& source, const std::string& compiler_identity,
                      const std::vector<std::string>& flags) {
  // Each part's length goes first, so that no two lists of parts read the same.
  std::string content;
  const auto add = [&content](std::string_view part) { content += fmt::format("{}:{}", part.size(), part); };
  add(source.name);
  add(source.text);
  add(embedded_text(kContractPath));
  add(compiler_identity);
  for (const std::string& flag : flags) add(flag);
  return sha256(content);
}

/// Beside a product stands the digest of its bytes: a damaged product is as good as none.
fs::path digest_path(const fs::path& product) { return fs::path(product).replace_extension(".sha256"); }

Expected<KernelResources> read_code_object(const fs::path& path, const std::string& kernel) {
  const std::optional<std::string> bytes = read_file(path);
  if (!bytes) return Diagnostic{.where = path.string(), .problem = "cannot be read"};
  if (read_file(digest_path(path)) != sha256(*bytes))
    return Diagnostic{.where = path.string(), .problem = "is not what was compiled"};
  return read_resources(std::as_bytes(std::span(*bytes)), kernel);
}

/// Runs the compiler; its product is renamed into the cache.
Status run_compiler(const KernelSource& source, const Compiler& compiler, const std::vector<std::string>& flags,
                    const fs::path& product) {
  const ScratchFolder scratch(product.parent_path());
  if (scratch.error()) {
    return Diagnostic{.where = std::string(kCacheOption),
                      .problem = "the cache cannot be written: " + scratch.error().message(),
                      .value = product.parent_path().string(),
                      .allowed = "a folder with room that may be written"};
  }
  const fs::path include = scratch.path() / "include";
  const fs::path input = scratch.path() / (source.name + ".hip");
  const fs::path output = scratch.path() / (source.name + ".co");
  if (Status status = write_file(input, source.text); !status) return status;
  if (Status status = write_file(include / "mlaforge" / "kernel_contract.h", embedded_text(kContractPath)); !status)
    return status;

  std::vector<std::string> argv = {compiler.path.string()};
  argv.insert(argv.end(), flags.begin(), flags.end());
  argv.insert(argv.end(), {"-I", include.string(), input.string(), "-o", output.string()});
  const Expected<ProcessResult> run = run_process(argv);
  if (!run) return run.errors();
  if (run->exit_code != 0) {
    return Diagnostic{.where = source.name,
                      .problem = fmt::format("{} ended with exit code {}:\n{}", compiler.path.filename().string(),
                                             run->exit_code, run->output)};
  }
  const std::optional<std::string> bytes = read_file(output);
  if (!bytes) return Diagnostic{.where = source.name, .problem = "the compiler wrote no code object"};
  const fs::path digest = scratch.path() / "digest";
  if (Status status = write_file(digest, sha256(*bytes)); !status) return status;
  std::error_code error;
  fs::rename(digest, digest_path(product), error);
  if (!error) fs::rename(output, product, error);
  if (error) return Diagnostic{.where = product.string(), .problem = "cannot be written: " + error.message()};
  return std::monostate{};
}

Expected<CompiledKernel> compile_one(const KernelSource& source, const Compiler& compiler,
                                     const std::string& compiler_identity, const fs::path& cache) {
  const std::vector<std::string> flags = compile_flags(compiler, source.target);
  const fs::path product = cache / (cache_key(source, compiler_identity, flags) + ".co");
  CompiledKernel result{.name = source.name, .code_object = product, .compiler = version_line(compiler)};

  // An entry that does not read well is as good as none.
  Expected<KernelResources> resources = read_code_object(product, source.name);
  result.cached = resources.has_value();
  if (!resources) {
    if (const Status status = run_compiler(source, compiler, flags, product); !status) return status.errors();
    resources = read_code_object(product, source.name);
    if (!resources) return resources.errors();
  }
  if (Diagnostics exceeded = check_limits(*resources, source.name); !exceeded.empty()) return exceeded;
  result.resources = *resources;
  return result;
}

}  // namespace

fs::path default_cache() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return fs::path(cache) / "mlaforge";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache" / "mlaforge";
  return fs::temp_directory_path() / fmt::format("mlaforge-cache-{}", ::getuid());
}

Expected<std::vector<CompiledKernel>> compile_kernels(const std::vector<KernelSource>& sources,
                                                      const CompileOptions& options) {
  const Expected<Compiler> compiler = find_compiler(options.compiler);
  if (!compiler) return compiler.errors();
  const fs::path cache = options.cache.empty() ? default_cache() : fs::absolute(options.cache);
  std::error_code error;
  fs::create_directories(cache, error);
  if (error) {
    return Diagnostic{.where = std::string(kCacheOption),
                      .problem = "the cache cannot be made: " + error.message(),
                      .value = cache.string(),
                      .allowed = "a folder with room that may be written"};
  }

  remove_old_scratch(cache);

  const std::string compiler_identity = identity(*compiler);
  std::vector<std::optional<Expected<CompiledKernel>>> results(sources.size());
  std::atomic<size_t> next{0};
  std::mutex progress_mutex;
  size_t done = 0;
  const auto work = [&] {
    for (size_t i = next++; i < sources.size(); i = next++) {
      results[i] = compile_one(sources[i], *compiler, compiler_identity, cache);
      const std::lock_guard lock(progress_mutex);
      ++done;
      if (options.progress) options.progress(done, sources.size(), sources[i].name);
    }
  };
  const unsigned jobs = options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> workers;
    for (size_t i = 1; i < std::min<size_t>(jobs, sources.size()); ++i) workers.emplace_back(work);
    work();
  }

  std::vector<CompiledKernel> compiled;
  Diagnostics errors;
  for (const auto& result : results) {
    if (result->has_value()) {
      compiled.push_back(result->value());
    } else {
      errors.insert(errors.end(), result->errors().begin(), result->errors().end());
    }
  }
  if (!errors.empty()) return errors;
  return compiled;
}

}  // namespace mlaforge
