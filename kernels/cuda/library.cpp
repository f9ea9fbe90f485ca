#include "cuda/library.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "kernels/device_error.h"
#include "kernels/rank_group.h"
#include "shared/environment.h"

namespace kernels::cuda {
namespace {

namespace fs = std::filesystem;

void add(std::vector<std::string>& folders, const fs::path& folder) {
    std::error_code ignored;
    if (folder.empty() || !fs::is_directory(folder, ignored)) return;
    if (std::find(folders.begin(), folders.end(), folder.string()) == folders.end())
        folders.push_back(folder.string());
}

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts;
    for (std::size_t start = 0; start <= list.size();) {
        const std::size_t end = std::min(list.find(':', start), list.size());
        if (end > start) parts.push_back(list.substr(start, end - start));
        start = end + 1;
    }
    return parts;
}

/// The wheels' folders below one site-packages; nvidia/cu13 holds what 13 and later bring.
void add_wheels(std::vector<std::string>& folders, const fs::path& packages) {
    for (const char* part :
         {"cu13", "cublas", "cudnn", "cuda_runtime", "cuda_nvrtc", "nccl", "nvjpeg", "nvtx"})
        add(folders, packages / "nvidia" / part / "lib");
}

/// The Python that is installed under `prefix`, without asking it: any version, wherever Debian or
/// pip put packages.
void add_python(std::vector<std::string>& folders, const fs::path& prefix) {
    if (prefix.empty()) return;
    add_wheels(folders, prefix / "lib" / "python3" / "dist-packages");
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(prefix / "lib", ignored)) {
        if (!entry.path().filename().string().starts_with("python3.")) continue;
        add_wheels(folders, entry.path() / "site-packages");
        add_wheels(folders, entry.path() / "dist-packages");
    }
}

/// Prefixes of the python3 that are on the PATH: the folders above its bin.
void add_pythons_on_path(std::vector<std::string>& folders) {
    for (const std::string& folder : split(environment("PATH"))) {
        std::error_code ignored;
        const fs::path python = fs::path(folder) / "python3";
        if (!fs::exists(python, ignored)) continue;
        add_python(folders, fs::path(folder).parent_path());
        add_python(folders, fs::canonical(python, ignored).parent_path().parent_path());
    }
}

fs::path own_data() {
    const std::string data = environment("XDG_DATA_HOME");
    if (!data.empty()) return fs::path(data) / "halftone";
    const std::string home = environment("HOME");
    return home.empty() ? fs::path() : fs::path(home) / ".local/share/halftone";
}

std::string path_of(void* handle, const std::string& asked) {
    // The file is found by the address of any of its functions; else the requested name.
    for (const char* name : {"cublasLtGetVersion", "cudnnGetVersion", "ncclGetVersion",
                             "cudaRuntimeGetVersion", "nvjpegGetProperty"}) {
        Dl_info info{};
        void* function = dlsym(handle, name);
        if (function && dladdr(function, &info) != 0 && info.dli_fname) return info.dli_fname;
    }
    return asked;
}

bool open(Library& library, const std::string& file, const Refuses& refuses) {
    if (std::string why = refuses ? refuses(file) : std::string(); !why.empty()) {
        library.info.problem = std::move(why);
        return false;
    }
    library.handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library.handle) {
        const char* problem = dlerror();
        // A file that is there and does not load says more than all those that are not there.
        std::error_code ignored;
        if (problem && (library.info.problem.empty() || fs::exists(file, ignored)))
            library.info.problem = problem;
        return false;
    }
    library.info.found = true;
    library.info.problem.clear();
    library.info.path = path_of(library.handle, file);
    return true;
}

std::string version_text(std::size_t number) {
    return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
           std::to_string(number % 100);
}

std::string cuda_text(int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

void read_version(Library& library, const char* function) {
    if (!library.handle) return;
    auto* get = reinterpret_cast<std::size_t (*)()>(dlsym(library.handle, function));
    if (get) library.info.version = version_text(get());
}

/// CUDA's major version that the program is built with, and so its driver runs.
constexpr int own_major = CUDART_VERSION / 1000;

Library open_cublas_lt() {
    Library library =
        open_library("cuBLASLt", sonames("libcublasLt.so", own_major), library_folders());
    read_version(library, "cublasLtGetVersion");
    return library;
}

/// cuDNN's engines call cuBLASLt, of the major version that cuDNN is built for.
int major_of_cublas_lt() {
    const int major = std::atoi(cublas_lt_library().info.version.c_str());
    return major > 0 ? major : own_major;
}

/// NVRTC opens its second library by its plain name when it compiles, so that is opened here too.
void open_nvrtc(int major, const std::vector<std::string>& folders) {
    const Library nvrtc = open_library("NVRTC", sonames("libnvrtc.so", major), folders);
    if (!nvrtc.handle) return;
    auto* get = reinterpret_cast<int (*)(int*, int*)>(dlsym(nvrtc.handle, "nvrtcVersion"));
    int number = 0, part = 0;
    if (!get || get(&number, &part) != 0) return;
    open_library("NVRTC's built-in functions",
                 {"libnvrtc-builtins.so." + std::to_string(number) + "." + std::to_string(part)},
                 folders);
}

Library find_cudnn() {
    const std::vector<std::string> folders = library_folders();
    const int major = major_of_cublas_lt();
    // cuDNN and its frontend ask for these by their plain names; found where they would not look,
    // they have to be open before.
    choose_run_time(open_library("CUDA run time", sonames("libcudart.so", major), folders));
    open_nvrtc(major, folders);
    return open_cudnn({"libcudnn.so.9"}, folders, major);
}

Library open_nccl() {
    Library library = open_library("NCCL", {"libnccl.so.2"}, library_folders());
    if (!library.handle) return library;
    auto* get = reinterpret_cast<int (*)(int*)>(dlsym(library.handle, "ncclGetVersion"));
    int version = 0;
    if (get && get(&version) == 0)
        library.info.version = version_text(static_cast<std::size_t>(version));
    return library;
}

Library find_nvjpeg() {
    Library library = open_library("nvJPEG", sonames("libnvjpeg.so", own_major), library_folders());
    if (!library.handle) return library;
    auto* get = reinterpret_cast<int (*)(int, int*)>(dlsym(library.handle, "nvjpegGetProperty"));
    std::string version;
    for (int part = 0; get && part < 3; ++part) {
        int number = 0;
        if (get(part, &number) == 0) version += (part > 0 ? "." : "") + std::to_string(number);
    }
    library.info.version = version;
    return library;
}

}  // namespace

std::vector<std::string> library_folders() {
    std::vector<std::string> folders;
    for (const std::string& folder : split(environment("HALFTONE_CUDA_LIBS"))) add(folders, folder);
    const std::string home = environment("CUDA_HOME");
    if (!home.empty()) add(folders, fs::path(home) / "lib64");
    add(folders, "/usr/local/cuda/lib64");
    add(folders, "/opt/cuda/lib64");
    add_python(folders, environment("VIRTUAL_ENV"));
    add_python(folders, environment("CONDA_PREFIX"));
    const fs::path data = own_data();  // where installer/cuda_wheels.sh puts them
    if (!data.empty()) add_python(folders, data / "cuda");
    add_pythons_on_path(folders);
    const std::string user = environment("HOME");
    if (!user.empty()) add_python(folders, fs::path(user) / ".local");
    return folders;
}

std::vector<std::string> sonames(const std::string& stem, int major) {
    const int other = major == 13 ? 12 : 13;
    return {stem + "." + std::to_string(major), stem + "." + std::to_string(other)};
}

std::vector<std::string> nvtx_names() {
    // Python's wheels have the first alone, toolkits of CUDA 13 the second too, older ones the
    // third.
    return {"libnvtx3interop.so.1", "libnvtx3interop.so", "libnvToolsExt.so.1"};
}

std::size_t ask_copy(const std::string& file, const char* function) {
    void* const copy = dlmopen(LM_ID_NEWLM, file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!copy) return 0;
    auto* const ask = reinterpret_cast<std::size_t (*)()>(dlsym(copy, function));
    const std::size_t answer = ask ? ask() : 0;
    dlclose(copy);
    return answer;
}

Library open_cudnn(const std::vector<std::string>& names, const std::vector<std::string>& folders,
                   int major) {
    const auto refuses = [major](const std::string& file) {
        const auto built_for = static_cast<int>(ask_copy(file, "cudnnGetCudartVersion"));
        if (built_for == 0 || built_for / 1000 == major) return std::string();
        return file + " is built for CUDA " + cuda_text(built_for) + ", and cuBLASLt is of CUDA " +
               std::to_string(major);
    };
    Library library = open_library("cuDNN", names, folders, refuses);
    read_version(library, "cudnnGetVersion");
    if (library.handle) {
        auto* get =
            reinterpret_cast<std::size_t (*)()>(dlsym(library.handle, "cudnnGetCudartVersion"));
        if (get) library.info.cuda = cuda_text(static_cast<int>(get()));
    }
    return library;
}

void choose_run_time(const Library& run_time) {
    if (run_time.handle)
        setenv("CUDNN_FRONTEND_CUDART_LIB_NAME", run_time.info.path.c_str(), /*overwrite=*/0);
}

Library open_library(const std::string& name, const std::vector<std::string>& names,
                     const std::vector<std::string>& folders, const Refuses& refuses) {
    Library library;
    library.info.name = name;
    library.info.searched = {"the system's folders"};
    library.info.searched.insert(library.info.searched.end(), folders.begin(), folders.end());
    for (const std::string& file : names) {
        if (open(library, file, refuses)) return library;
        for (const std::string& folder : folders)
            if (open(library, folder + "/" + file, refuses)) return library;
    }
    return library;
}

void* Library::function(const char* function) const {
    void* address = handle ? dlsym(handle, function) : nullptr;
    if (address) return address;
    if (handle) throw DeviceError(info.path + " has no " + function);
    std::string text = info.name + " is not installed; looked in";
    for (const std::string& folder : info.searched) text += " " + folder + ",";
    text.back() = ';';
    throw DeviceError(text + " set HALFTONE_CUDA_LIBS to its folder. " + info.problem);
}

const Library& cublas_lt_library() {
    static const auto* only = new Library(open_cublas_lt());
    return *only;
}

const Library& cudnn_library() {
    static const auto* only = new Library(find_cudnn());
    return *only;
}

const Library& nccl_library() {
    static const auto* only = new Library(open_nccl());
    return *only;
}

const Library& nvjpeg_library() {
    static const auto* only = new Library(find_nvjpeg());
    return *only;
}

LibraryInfo rank_library() { return nccl_library().info; }

std::vector<LibraryInfo> libraries() { return {cublas_lt_library().info, cudnn_library().info}; }

}  // namespace kernels::cuda
