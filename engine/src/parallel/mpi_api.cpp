#include "parallel/mpi_api.h"

#include <dlfcn.h>

#include <filesystem>

#include "engine/base/error.h"
#include "parallel/joined_launch.h"
#include "parallel/mpirun.h"

namespace engine {
namespace {

constexpr char library_name[] = "libmpi.so.40";  // of Open MPI 3.1, 4 and 5

/// An Open MPI outside the system's folders: its library is found by its mpirun.
std::string file_beside_mpirun() {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const std::string mpirun = find_mpirun("Open MPI");
    if (mpirun.empty()) return {};
    const fs::path prefix = fs::canonical(mpirun, ignored).parent_path().parent_path();
    for (const char* folder : {"lib", "lib64"}) {
        const fs::path file = prefix / folder / library_name;
        if (fs::exists(file, ignored)) return file.string();
    }
    return {};
}

const OpenedMpi& opened_mpi() {
    static const auto* only = [] {
        const std::string beside = file_beside_mpirun();
        return new OpenedMpi(open_mpi(beside.empty() ? library_name : beside));
    }();
    return *only;
}

/// Sets `member` to the address of `symbol`. Keeps the name of the first one that the library
/// lacks.
template <typename Pointer>
void find(Pointer& member, void* library, const char* symbol, std::string& lacking) {
    member = reinterpret_cast<Pointer>(dlsym(library, symbol));
    if (member == nullptr && lacking.empty()) lacking = symbol;
}

std::string path_of(const void* address, const std::string& asked) {
    Dl_info info{};
    return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : asked;
}

}  // namespace

OpenedMpi open_mpi(const std::string& file) {
    OpenedMpi out;
    // Global: the library opens plugins that look for its symbols.
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
        const char* problem = dlerror();
        out.problem = problem != nullptr ? problem : file;
        return out;
    }
    std::string lacking;
#define HALFTONE_MPI_FUNCTION(name, symbol) find(out.api.name, library, #symbol, lacking);
#define HALFTONE_MPI_OBJECT(type, name, value, symbol) \
    find(out.api.name, library, #symbol, lacking);
#include "parallel/mpi_api.inc"
    out.file = path_of(reinterpret_cast<const void*>(out.api.get_library_version), file);
    if (!lacking.empty()) out.problem = out.file + " has no " + lacking;
    return out;
}

const MpiApi& mpi() {
    const OpenedMpi& opened = opened_mpi();
    if (opened.problem.empty()) return opened.api;
    throw Error(
        ErrorCode::device,
        msg("This program is one of several ranks, and Open MPI cannot be opened: {}.",
            opened.problem),
        msg("Install it (Debian's package openmpi-bin), or start the program without mpirun."));
}

MpiLibrary mpi_library() {
    const OpenedMpi& opened = opened_mpi();
    MpiLibrary out{
        .file = opened.file,
        .remedy = msg("Set workers to 1, or install Open MPI (Debian's package openmpi-bin).")};
    if (opened.problem.empty())
        out.name = mpi_name();
    else
        out.problem =
            msg("Several workers need Open MPI (Debian's package openmpi-bin), which cannot be "
                "opened: {}.",
                opened.problem);
    return out;
}

}  // namespace engine
