#include "parallel/mpirun.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <sstream>

#include "engine/base/error.h"
#include "engine/parallel/launch.h"
#include "parallel/joined_launch.h"
#include "parallel/output_handover.h"

namespace engine {
namespace {

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] != '\0';
}

void write_once(const char* file, const char* text) {
    const int out = open(file, O_WRONLY | O_CLOEXEC);
    [[maybe_unused]] const auto written = write(out, text, std::strlen(text));
    close(out);
}

void start_loopback() {
    const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    std::memcpy(request.ifr_name, "lo", sizeof "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    ioctl(any, SIOCSIFFLAGS, &request);
    close(any);
}

std::atomic<pid_t> launcher{0};
std::atomic<int> requests{0};

/// mpirun passes SIGUSR1 on to all ranks; ending them by its default leaves no time to save.
extern "C" void pass_on(int) {
    const int before = requests.fetch_add(1);
    kill(launcher, before == 0 ? SIGUSR1 : SIGTERM);
}

/// While it lives, passes signals that end a program on to mpirun.
class PassedSignals {
public:
    PassedSignals() {
        requests = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i)
            before_[i] = std::signal(numbers[i], pass_on);
        // Stays ignored under nohup.
        if (before_.back() == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
    }
    ~PassedSignals() {
        for (std::size_t i = 0; i < numbers.size(); ++i) std::signal(numbers[i], before_[i]);
    }
    PassedSignals(const PassedSignals&) = delete;
    PassedSignals& operator=(const PassedSignals&) = delete;

private:
    static constexpr std::array numbers = {SIGINT, SIGTERM, SIGHUP};
    std::array<void (*)(int), numbers.size()> before_{};
};

constexpr char open_ports[] =
    "halftone: This system gives the run no network of its own; other machines can reach the ports "
    "that mpirun opens.\n";

/// Becomes mpirun in the child. Runs between fork and exec, so it allocates nothing. `network`:
/// null for one that the run shares.
[[noreturn]] void become(const std::vector<char*>& arguments, pid_t parent,
                         const OwnNetwork* network, const OutputHandover& output) {
    if (network != nullptr && !network->enter()) {
        [[maybe_unused]] const auto written =
            write(STDERR_FILENO, open_ports, sizeof open_ports - 1);
    }
    output.open_in_child();
    // So that Ctrl-C in a terminal reaches only this program, which passes it on.
    setpgid(0, 0);
    // A terminal may be set to stop what writes from the background (stty tostop): not the ranks.
    std::signal(SIGTTOU, SIG_IGN);
    // Killing this program ends the ranks too.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    // A background group must not read the terminal.
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    close(nothing);
    execv(arguments.front(), arguments.data());
    _exit(127);
}

/// Defaults of mpirun's, by the names of Open MPI 4 and of the launcher of Open MPI 5 (PRRTE),
/// which ignores the former. MPICH's mpirun ignores both. A value that the user has set stays.
void set_defaults() {
    // Ranks are not bound to one core each: they share the processors by their numbers of threads.
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", /*overwrite=*/0);
    setenv("PRTE_MCA_hwloc_default_binding_policy", "none", /*overwrite=*/0);
    // More ranks than cores may run; mpirun refuses them otherwise.
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", /*overwrite=*/0);
    setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", /*overwrite=*/0);
    // Ranks of one machine exchange through its memory; Open MPI's would listen on ports as well.
    if (stays_on_this_machine()) setenv("OMPI_MCA_btl", "^tcp", /*overwrite=*/0);
}

int wait_status(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/// Whether the library is Open MPI 5 or later. mpirun is taken to be of the same version.
bool is_open_mpi_5() {
    const std::string library = mpi_library().name, name = "Open MPI v";
    return library.starts_with(name) && std::atoi(library.c_str() + name.size()) >= 5;
}

/// mpirun returns the exit code of the first rank that failed. If a signal ended a rank:
///
/// - Open MPI 4's returns 128 plus its number, after the other ranks have named the lost one;
/// - Open MPI 5's returns the same, and kills the other ranks half a second later, often before
///   they can name it. Its own text names it;
/// - MPICH's returns its number, and kills the other ranks, mostly before they can name it. Its own
///   text names the first process that it finds dead, which may be one of those.
int to_exit_code(int status) {
    const int failed = exit_code(ErrorCode::training);
    if (!WIFEXITED(status)) return failed;
    const int code = WEXITSTATUS(status);
    if (code == 0 || (code >= exit_code(ErrorCode::settings) && code <= failed)) return code;
    if (code == 1 || code == 127) {
        std::cerr << "halftone: mpirun could not run the workers; its own words say why\n";
        return exit_code(ErrorCode::device);
    }
    if (code < 128 || is_open_mpi_5())
        std::cerr << "halftone: A rank was lost; mpirun ended the others before they named it.\n";
    return failed;
}

}  // namespace

bool stays_on_this_machine() {
    for (const char* nodes : {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"}) {
        if (is_set(nodes)) return std::string_view(std::getenv(nodes)) == "1";
    }
    for (const char* name :
         {"SLURM_JOB_ID", "PBS_JOBID", "PBS_NODEFILE", "LSB_JOBID", "LSB_HOSTS", "PE_HOSTFILE",
          "COBALT_JOBID", "FLUX_JOB_ID", "OMPI_MCA_orte_default_hostfile",
          "PRTE_MCA_prte_default_hostfile", "HYDRA_HOST_FILE"}) {
        if (is_set(name)) return false;
    }
    return true;
}

OwnNetwork::OwnNetwork() {
    std::snprintf(users_.data(), users_.size(), "%u %u 1\n", geteuid(), geteuid());
    std::snprintf(groups_.data(), groups_.size(), "%u %u 1\n", getegid(), getegid());
}

bool OwnNetwork::enter() const {
    if (unshare(CLONE_NEWNET) != 0) {
        // Without privileges within a user namespace, where many systems allow it.
        if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
        write_once("/proc/self/setgroups", "deny");
        write_once("/proc/self/uid_map", users_.data());
        write_once("/proc/self/gid_map", groups_.data());
    }
    start_loopback();
    return true;
}

std::string find_mpirun(std::string_view library) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string file = (folder.empty() ? "." : folder) + "/mpirun";
        // Debian has the launchers of both libraries side by side, and mpirun is one of them.
        for (const char* suffix : {library.starts_with("MPICH") ? ".mpich" : ".openmpi", ""}) {
            if (access((file + suffix).c_str(), X_OK) == 0) return file + suffix;
        }
    }
    return {};
}

int run_workers(std::int64_t workers, const std::vector<std::string>& command) {
    if (const Message problem = why_no_workers(); !problem.empty())
        throw Error(ErrorCode::device, problem, mpi_library().remedy);
    std::vector<std::string> words = {find_mpirun(mpi_library().name), "-n",
                                      std::to_string(workers)};
    words.insert(words.end(), command.begin(), command.end());
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    set_defaults();
    std::optional<OwnNetwork> network;
    if (stays_on_this_machine()) network.emplace();
    OutputHandover output;
    std::cout.flush();
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0)
        throw Error(ErrorCode::device, msg("mpirun cannot be started: {}.", std::strerror(errno)));
    if (child == 0) become(arguments, parent, network ? &*network : nullptr, output);
    launcher = child;
    const PassedSignals passed;
    output.serve();
    return to_exit_code(wait_status(child));
}

}  // namespace engine
