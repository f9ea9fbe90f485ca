#include "runs/serve/bounded_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

namespace engine {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Bounds of time that no test reaches.
constexpr RequestBounds patient{.first_byte = 60s, .request = 60s, .response = 60s};

/// A server with two pages.
class Bounded {
public:
    explicit Bounded(const RequestBounds& bounds) : server_(bounds) {
        server_.Get("/", [](const auto&, auto& response) { response.set_content("page", "text/plain"); });
        server_.Get("/long", [](const auto&, auto& response) {
            response.set_content(std::string(64 << 20, 'x'), "text/plain");
        });
        server_.Post("/", [](const auto& request, auto& response) {
            response.set_content("got " + request.body, "text/plain");
        });
        port_ = server_.bind_to_any_port("127.0.0.1");
        thread_ = std::thread([this] { server_.listen_after_bind(); });
        while (!server_.is_running()) std::this_thread::sleep_for(1ms);
    }
    ~Bounded() {
        server_.stop();
        thread_.join();
    }
    /// Everything that comes back for these bytes until the server closes the connection.
    std::string answer_to(const std::string& bytes) const {
        const int connection = connect();
        [[maybe_unused]] auto sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        std::string out, piece(1 << 16, '\0');
        for (ssize_t n = 1; n > 0;) {
            n = ::recv(connection, piece.data(), piece.size(), 0);
            if (n > 0) out.append(piece, 0, static_cast<std::size_t>(n));
        }
        ::close(connection);
        return out;
    }
    int connect() const {
        const int out = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port_));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(out, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
        return out;
    }

private:
    BoundedServer server_;
    int port_ = 0;
    std::thread thread_;
};

/// A request with this many header lines in all.
std::string request_with(int headers, std::size_t length = 1) {
    std::string out = "GET / HTTP/1.1\r\nHost: localhost\r\n";
    for (int i = 1; i < headers; ++i) out += "X-" + std::to_string(i) + ": " + std::string(length, 'a') + "\r\n";
    return out + "\r\n";
}

TEST(BoundedServer, AnswersARequestWithinItsBounds) {
    const Bounded server(patient);
    EXPECT_THAT(server.answer_to(request_with(1)), testing::AllOf(HasSubstr(" 200 "), HasSubstr("\r\n\r\npage")));
    EXPECT_THAT(server.answer_to(request_with(63)), HasSubstr(" 200 "));
    EXPECT_THAT(server.answer_to("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"),
                HasSubstr("got hello"));
}

TEST(BoundedServer, RefusesMoreHeaderLinesOrBytesThanItTakes) {
    const Bounded server(patient);
    EXPECT_THAT(server.answer_to(request_with(64)), HasSubstr(" 431 "));
    EXPECT_THAT(server.answer_to(request_with(300)), HasSubstr(" 431 "));
    EXPECT_THAT(server.answer_to(request_with(20, 900)), HasSubstr(" 431 "));
    const std::string endless = "GET / HTTP/1.1\r\n" + std::string(16'384, 'a');
    EXPECT_THAT(server.answer_to(endless), HasSubstr(" 431 "));
    EXPECT_THAT(server.answer_to(request_with(1)), HasSubstr(" 200 ")) << "it goes on";
}

TEST(BoundedServer, AClientThatIsSlowToAskIsTurnedAway) {
    RequestBounds bounds = patient;
    bounds.request = 50ms;
    const Bounded server(bounds);
    EXPECT_THAT(server.answer_to("GET / HTTP/1.1\r\nHost: local"), HasSubstr(" 408 "));
    bounds = patient;
    bounds.first_byte = 50ms;
    const Bounded other(bounds);
    EXPECT_EQ(other.answer_to(""), "") << "nothing was asked";
}

TEST(BoundedServer, AClientThatDoesNotTakeItsAnswerIsLeft) {
    RequestBounds bounds = patient;
    bounds.response = 50ms;
    std::chrono::steady_clock::time_point answered;
    const int client = [&] {
        // Its end waits for the answer.
        const Bounded server(bounds);
        const int out = server.connect();
        const std::string request = "GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n";
        EXPECT_EQ(::send(out, request.data(), request.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(request.size()));
        std::string first(1, '\0');
        EXPECT_EQ(::recv(out, first.data(), 1, 0), 1);
        answered = std::chrono::steady_clock::now();
        return out;
    }();
    EXPECT_LT(std::chrono::steady_clock::now() - answered, 30s);
    ::close(client);
}

}  // namespace
}  // namespace engine
