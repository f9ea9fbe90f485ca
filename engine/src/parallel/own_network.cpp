#include "parallel/own_network.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

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

}  // namespace engine
