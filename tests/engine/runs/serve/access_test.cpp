#include "runs/serve/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "support/expectations.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char good_token[] = "0123456789abcdef0123456789";

TEST(Access, LoopbackIsTheMachineItself) {
    for (const char* address : {"127.0.0.1", "127.1.2.3", "::1", "localhost"})
        EXPECT_TRUE(is_loopback(address)) << address;
    for (const char* address :
         {"0.0.0.0", "::", "", "192.168.1.2", "127.evil.com", "127.0.0.1.evil.com", "localhost.evil.com"})
        EXPECT_FALSE(is_loopback(address)) << address;
}

TEST(Access, AServerOfOneMachineGoesByItsLoopbackNamesAlone) {
    const Access access("127.0.0.1", "");
    for (const char* host : {"127.0.0.1:8421", "localhost", "LOCALHOST:1", "[::1]:8421", "127.0.0.1"})
        EXPECT_TRUE(access.is_own_host(host)) << host;
    for (const char* host : {"", ":", "evil.com", "evil.com:8421", "192.168.1.2:8421", "[::2]:8421", "[", "[]",
                             "127.0.0.1.evil.com", "localhost.evil.com:80", "127.0.0.1:1:evil.com"})
        EXPECT_FALSE(access.is_own_host(host)) << host;
}

TEST(Access, AServerOfANetworkGoesByAddressesAndByTheNameOfTheMachine) {
    const Access access("0.0.0.0", good_token);
    std::array<char, 256> name{};
    ASSERT_EQ(::gethostname(name.data(), name.size() - 1), 0);
    EXPECT_TRUE(access.is_own_host("192.168.1.2:8421"));
    EXPECT_TRUE(access.is_own_host("[fe80::1]:8421"));
    EXPECT_TRUE(access.is_own_host(std::string(name.data()) + ":8421"));
    EXPECT_TRUE(access.is_own_host(std::string(name.data()) + ".lab.example"));
    EXPECT_FALSE(access.is_own_host("evil.com:8421"));
    EXPECT_FALSE(access.is_own_host("x" + std::string(name.data())));
}

TEST(Access, IsGrantedByTheTokenOrByItsCookie) {
    const Access access("0.0.0.0", good_token);
    EXPECT_FALSE(access.is_granted("", ""));
    EXPECT_TRUE(access.is_granted(std::string("Bearer ") + good_token, ""));
    for (const std::string& guess : {std::string("Bearer "), std::string("Bearer x"), std::string(good_token),
                                     "Bearer " + std::string(good_token) + "0", "Basic " + std::string(good_token),
                                     "Bearer " + std::string(good_token).substr(0, 25)})
        EXPECT_FALSE(access.is_granted(guess, "")) << guess;
    const std::string cookie = access.set_cookie().substr(0, access.set_cookie().find(';'));
    EXPECT_THAT(access.set_cookie(), HasSubstr("HttpOnly"));
    EXPECT_THAT(access.set_cookie(), HasSubstr("SameSite=Strict"));
    EXPECT_THAT(access.set_cookie(), testing::Not(HasSubstr(good_token)));
    EXPECT_TRUE(access.is_granted("", cookie));
    EXPECT_TRUE(access.is_granted("", "a=b; " + cookie + "; c=d"));
    for (const std::string& other : {std::string(";"), std::string(";;; "), std::string("halftone="),
                                     std::string("halftone=") + good_token, cookie + "0", "x" + cookie})
        EXPECT_FALSE(access.is_granted("", other)) << other;
    EXPECT_FALSE(Access("0.0.0.0", good_token).is_granted("", cookie)) << "another server has another one";
    EXPECT_TRUE(Access("127.0.0.1", "").is_granted("", ""));
}

TEST(Access, ATokenIsALongWordInAFileOfItsOwner) {
    const test_support::TempFolder dir;
    const auto write = [&](const std::string& text, fs::perms mode) {
        std::ofstream(dir / "token") << text;
        fs::permissions(dir / "token", mode);
    };
    const fs::perms own = fs::perms::owner_read | fs::perms::owner_write;
    write(std::string(" ") + good_token + "\n", own);
    EXPECT_EQ(read_token(dir / "token"), good_token);
    write("short\n", own);
    EXPECT_THAT(message_of(ErrorCode::settings, [&] { read_token(dir / "token"); }),
                HasSubstr("at least 20"));
    write("two words of some length here\n", own);
    EXPECT_THAT(message_of(ErrorCode::settings, [&] { read_token(dir / "token"); }),
                HasSubstr("one word"));
    write(good_token, own | fs::perms::group_read);
    EXPECT_THAT(message_of(ErrorCode::settings, [&] { read_token(dir / "token"); }),
                HasSubstr("other users"));
    EXPECT_THAT(message_of(ErrorCode::io, [&] { read_token(dir / "none"); }), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace engine
