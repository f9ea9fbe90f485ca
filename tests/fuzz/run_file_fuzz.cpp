#include <cstdlib>
#include <filesystem>

#include "engine/base/error.h"
#include "runs/run_archive.h"
#include "scratch_file.h"

// Uses the bytes as a run in one file. Expects an Error or an unpacked run, and no file outside its
// folder.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace fs = std::filesystem;
    static const fuzz::ScratchFile file("run.halftone");
    static const fs::path outside = file.path().string() + ".folder";
    file.write(reinterpret_cast<const char*>(data), size);
    fs::create_directories(outside / "run");
    try {
        engine::unpack_run(file.path(), outside / "run");
    } catch (const engine::Error&) {
    }
    if (std::distance(fs::directory_iterator(outside), fs::directory_iterator()) != 1) std::abort();
    for (const auto& entry : fs::recursive_directory_iterator(outside))
        if (entry.is_symlink()) std::abort();
    fs::remove_all(outside);
    return 0;
}
