#include "parallel/output_handover.h"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string_view>
#include <system_error>

#include "engine/parallel/launch.h"

namespace engine {
namespace {

constexpr const char* output_variable = "HALFTONE_OUTPUT";

/// No other run has it.
std::string random_name() {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out = "halftone-output-";
    std::random_device random;
    for (int i = 0; i < 32; ++i) out += digits[random() % digits.size()];
    return out;
}

/// Fills in an abstract address: its name begins with a zero and is no file. Returns its size.
socklen_t set_address(sockaddr_un& address, std::string_view name) {
    address = {};
    address.sun_family = AF_UNIX;
    const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
    std::memcpy(address.sun_path + 1, name.data(), length);
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

void close_and_forget(int& descriptor) {
    if (descriptor >= 0) close(descriptor);
    descriptor = -1;
}

/// Whether the process at the other end has this process's user.
bool is_of_this_user(int connection) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           peer.uid == geteuid();
}

/// A message of one byte that carries `count` descriptors. Allocates nothing.
template <std::size_t count>
class DescriptorMessage {
public:
    DescriptorMessage() {
        message_.msg_iov = &data_;
        message_.msg_iovlen = 1;
        message_.msg_control = space_.data();
        message_.msg_controllen = space_.size();
    }
    DescriptorMessage(const DescriptorMessage&) = delete;
    DescriptorMessage& operator=(const DescriptorMessage&) = delete;

    bool send(int socket, const std::array<int, count>& descriptors) {
        cmsghdr* const header = CMSG_FIRSTHDR(&message_);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof descriptors);
        std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof descriptors);
        return sendmsg(socket, &message_, MSG_NOSIGNAL) == 1;
    }
    /// Nothing if the other end closes, or if the time that the socket has for it is over.
    std::optional<std::array<int, count>> receive(int socket) {
        ssize_t bytes = 0;
        do {
            bytes = recvmsg(socket, &message_, MSG_CMSG_CLOEXEC);
        } while (bytes < 0 && errno == EINTR);
        const cmsghdr* const header = bytes == 1 ? CMSG_FIRSTHDR(&message_) : nullptr;
        std::array<int, count> out{};
        if (header == nullptr || header->cmsg_level != SOL_SOCKET ||
            header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof out))
            return std::nullopt;
        std::memcpy(out.data(), CMSG_DATA(header), sizeof out);
        return out;
    }

private:
    char byte_ = 0;
    iovec data_{&byte_, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(count * sizeof(int))> space_{};
    msghdr message_{};
};

/// Until rank 0 has come, or the listener is shut down.
void give_output(int listener) {
    bool given = false;
    while (!given) {
        int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (connection < 0) break;
        given = is_of_this_user(connection) &&
                DescriptorMessage<2>().send(connection, {STDOUT_FILENO, STDERR_FILENO});
        close_and_forget(connection);
    }
    shutdown(listener, SHUT_RDWR);
}

void replace_stream(int stream, int with) {
    // The launcher does not see the end of the old one, which it might take for that of the rank.
    fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    dup2(with, stream);
    close(with);
}

void take_output(const char* name) {
    sockaddr_un address;
    const socklen_t size = set_address(address, name);
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // The program that started this rank may have been stopped by its user.
    const timeval limit{5, 0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(connection, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
        is_of_this_user(connection)) {
        if (const auto streams = DescriptorMessage<2>().receive(connection)) {
            replace_stream(STDOUT_FILENO, streams->front());
            replace_stream(STDERR_FILENO, streams->back());
        }
    }
    close_and_forget(connection);
}

}  // namespace

OutputHandover::OutputHandover() {
    const std::string name = random_name();
    address_size_ = set_address(address_, name);
    setenv(output_variable, name.c_str(), /*overwrite=*/1);
    std::array<int, 2> pair{-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) return;
    to_child_ = pair[0];
    to_parent_ = pair[1];
}

OutputHandover::~OutputHandover() {
    unsetenv(output_variable);
    if (listener_ >= 0) shutdown(listener_, SHUT_RDWR);
    if (server_.joinable()) server_.join();
    for (int* const end : {&listener_, &to_child_, &to_parent_}) close_and_forget(*end);
}

void OutputHandover::open_in_child() const {
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, reinterpret_cast<const sockaddr*>(&address_), address_size_) == 0 &&
        listen(listener, SOMAXCONN) == 0)
        DescriptorMessage<1>().send(to_parent_, {listener});
    close_and_forget(listener);
}

void OutputHandover::serve() {
    // Then the other end is the child's alone, and its exec or its end closes it.
    close_and_forget(to_parent_);
    const auto listener = DescriptorMessage<1>().receive(to_child_);
    close_and_forget(to_child_);
    if (!listener) return;
    listener_ = listener->front();
    try {
        server_ = std::thread(give_output, listener_);
    } catch (const std::system_error&) {
        close_and_forget(listener_);
    }
}

void take_handed_output() {
    const char* const name = std::getenv(output_variable);
    if (name == nullptr) return;
    const LaunchedRank place = launched_rank();
    if (place.ranks > 1 && place.rank == 0) take_output(name);
    unsetenv(output_variable);
}

}  // namespace engine
