#include "parallel/communicator.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

TEST(PackedMessage, KeepsKeyAndArguments) {
    for (const Message& message :
         {Message("Nothing to fill in."), Message(), detail::message("{}, then {}", {"one", ""}),
          detail::message("Only {}", {"a, b and ünï"})}) {
        const Message back = unpacked(packed(message));
        EXPECT_EQ(back.text, message.text);
        EXPECT_EQ(back.args, message.args);
        EXPECT_EQ(back.str(), message.str());
    }
}

}  // namespace
}  // namespace engine
