#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "spirals.h"

// `halftone serve`. What it answers is tested with its server.
namespace app {
namespace {

using testing::HasSubstr;

/// The answer to a request to this port of this machine.
std::string fetch(int port, const std::string& path) {
    const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::string out;
    if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
        const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
        [[maybe_unused]] auto sent = ::send(connection, request.data(), request.size(), MSG_NOSIGNAL);
        std::string bytes(4096, '\0');
        for (ssize_t n = 1; n > 0;) {
            n = ::recv(connection, bytes.data(), bytes.size(), 0);
            if (n > 0) out.append(bytes, 0, static_cast<std::size_t>(n));
        }
    }
    ::close(connection);
    return out;
}

TEST(Serve, ShowsARunOfTheHistoryUntilCtrlC) {
    const test_support::TempFolder data_home;
    const Program::Options options{.data_home = data_home.path().string(), .before_start = {}};
    Program compare(spirals("compare", {"--set", "max_steps=12", "--set", "epochs=1"}), options);
    compare.finish();
    ASSERT_EQ(compare.exit_code(), 0) << compare.errors();
    Program serve({"serve", "2", "--port", "0"}, options);
    std::string line;
    ASSERT_TRUE(serve.read_line(line)) << serve.errors();
    EXPECT_THAT(line, HasSubstr("Shows run 2 on http://127.0.0.1:"));
    const int port = std::stoi(line.substr(line.rfind(':') + 1));
    EXPECT_THAT(fetch(port, "/"), HasSubstr("</html>"));
    const std::string run = fetch(port, "/api/run?cursor=");
    EXPECT_THAT(run, HasSubstr("\"step\":12"));
    EXPECT_THAT(run, HasSubstr("\"verdict\":{\"tone\""));
    serve.signal(SIGINT);
    serve.finish();
    EXPECT_EQ(serve.exit_code(), 0) << serve.errors();
}

TEST(Serve, WantsARunOrTheHistoryAndATokenBeyondThisMachine) {
    Program neither({"serve"});
    neither.finish();
    EXPECT_EQ(neither.exit_code(), 2);
    EXPECT_THAT(neither.errors(), HasSubstr("--all"));
    Program open({"serve", "--all", "--bind", "0.0.0.0"});
    open.finish();
    EXPECT_EQ(open.exit_code(), 2);
    EXPECT_THAT(open.errors(), HasSubstr("--token-file"));
    Program unknown({"serve", "nothing"});
    unknown.finish();
    EXPECT_EQ(unknown.exit_code(), 2);
}

}  // namespace
}  // namespace app
