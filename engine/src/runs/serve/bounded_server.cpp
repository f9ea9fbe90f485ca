#include "runs/serve/bounded_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int ok = 0, timed_out = 408, too_large = 431, gone = -1;

/// One connection, which it closes. The library asks for more or fewer of these functions,
/// depending on its version, so that `override` stands at those that all have.
class Connection final : public httplib::Stream {
public:
    Connection(int socket, const RequestBounds& bounds)
        : socket_(socket), bounds_(bounds), began_(Clock::now()) {}
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() override {
        // Bytes that nobody has read would turn the end of the answer into a reset.
        ::shutdown(socket_, SHUT_WR);
        std::array<char, 4096> unread;
        for (int i = 0; i < 64 && ::recv(socket_, unread.data(), unread.size(), MSG_DONTWAIT) > 0;)
            ++i;
        ::close(socket_);
    }

    /// Receives all lines up to the empty one: ok, `gone` for a client that has left, else the
    /// status that refuses it.
    int receive_head() {
        auto until = began_ + bounds_.first_byte;
        std::size_t looked_at = 0;
        for (;;) {
            if (!is_ready(POLLIN, until)) return head_.empty() ? gone : timed_out;
            const std::size_t had = head_.size();
            head_.resize(bounds_.head_bytes);
            const ssize_t got = ::recv(socket_, head_.data() + had, head_.size() - had, 0);
            head_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return gone;
            // The library's rule: a line ends with a newline, the empty one is "\r\n".
            const std::string_view all(head_);
            const std::size_t end = all.find("\n\r\n", looked_at);
            const bool is_whole = end != std::string_view::npos;
            const std::string_view lines = is_whole ? all.substr(0, end + 1) : all;
            if (std::ranges::count(lines, '\n') > max_lines()) return too_large;
            if (is_whole) return ok;
            if (head_.size() == bounds_.head_bytes) return too_large;
            looked_at = head_.size() < 2 ? 0 : head_.size() - 2;
            until = began_ + bounds_.request;
        }
    }

    ssize_t read(char* to, size_t size) override {
        if (const std::size_t left = head_.size() - taken_; left > 0) {
            const std::size_t count = std::min(left, size);
            std::copy_n(head_.data() + taken_, count, to);
            taken_ += count;
            return static_cast<ssize_t>(count);
        }
        for (;;) {
            if (!is_ready(POLLIN, began_ + bounds_.request)) return -1;
            const ssize_t got = ::recv(socket_, to, size, 0);
            if (got >= 0 || errno != EINTR) return got;
        }
    }
    ssize_t write(const char* from, size_t size) override {
        for (;;) {
            if (!wait_writable()) return -1;
            const ssize_t sent = ::send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent >= 0 || (errno != EINTR && errno != EAGAIN)) return sent;
        }
    }

    bool wait_readable() const {
        return taken_ < head_.size() || is_ready(POLLIN, began_ + bounds_.request);
    }
    bool wait_writable() const { return is_ready(POLLOUT, began_ + bounds_.response); }
    bool is_readable() const override { return wait_readable(); }
    bool is_writable() const { return wait_writable(); }
    time_t duration() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began_).count();
    }
    /// Nothing here depends on the addresses.
    void get_remote_ip_and_port(std::string&, int&) const override {}
    void get_local_ip_and_port(std::string&, int&) const override {}
    socket_t socket() const override { return socket_; }

private:
    std::ptrdiff_t max_lines() const { return static_cast<std::ptrdiff_t>(bounds_.head_lines); }
    bool is_ready(short what, Clock::time_point until) const {
        pollfd polled{.fd = socket_, .events = what, .revents = 0};
        for (;;) {
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
            const int found = ::poll(&polled, 1, static_cast<int>(std::max<long>(left, 0)));
            if (found >= 0 || errno != EINTR) return found > 0;
        }
    }

    const int socket_;
    const RequestBounds& bounds_;
    const Clock::time_point began_;
    std::string head_;  ///< and what of the body came with it
    std::size_t taken_ = 0;
};

std::string answer_with(int status) {
    return (status == too_large ? "HTTP/1.1 431 Request Header Fields Too Large\r\n"
                                : "HTTP/1.1 408 Request Timeout\r\n") +
           std::string("Content-Length: 0\r\nConnection: close\r\n\r\n");
}

}  // namespace

bool BoundedServer::process_and_close_socket(socket_t socket) {
    Connection connection(socket, bounds_);
    const int status = connection.receive_head();
    if (status == gone) return false;
    if (status != ok) {
        const std::string answer = answer_with(status);
        connection.write(answer.data(), answer.size());
        return false;
    }
    // Later versions of the library also take the addresses.
    const auto process = [&](auto& server) {
        bool closed = false;
        if constexpr (requires { server.process_request(connection, true, closed, nullptr); })
            return server.process_request(connection, true, closed, nullptr);
        else
            return server.process_request(connection, {}, 0, {}, 0, true, closed, nullptr);
    };
    return process(*this);
}

}  // namespace engine
