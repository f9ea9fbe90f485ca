#include "session/mailbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Mailbox, HandsCommandsAndEventsOverOnceAndInOrder) {
    Mailbox mail;
    EXPECT_THAT(mail.take_commands(), IsEmpty());
    mail.put(Command::start);
    mail.put(Command::pause);
    EXPECT_THAT(mail.take_commands(), ElementsAre(Command::start, Command::pause));
    EXPECT_THAT(mail.take_commands(), IsEmpty());
    for (const std::int64_t step : {1, 2}) mail.put(RunWarning{"7", msg("w"), step});
    const std::vector<Event> events = mail.take_events();
    ASSERT_THAT(events, SizeIs(2));
    EXPECT_EQ(std::get<RunWarning>(events[1]).step, 2);
    EXPECT_THAT(mail.take_events(), IsEmpty());
}

TEST(Mailbox, HasTheRunWithItsStart) {
    Mailbox mail;
    EXPECT_EQ(mail.run(), "");
    EXPECT_EQ(mail.record().size(), 0);
    mail.put_start(RunStarted{}, "7", {});
    EXPECT_EQ(mail.run(), "7");
    EXPECT_THAT(mail.take_events(), SizeIs(1));
    mail.put(ReadingShare{.done = 3, .total = 9});
    EXPECT_EQ(mail.reading().done, 3);
}

TEST(Mailbox, WakesWhoWaitsForTheEnd) {
    Mailbox mail;
    std::atomic<bool> over{false};
    EXPECT_FALSE(mail.wait(0, [&] { return over.load(); }));
    std::jthread other([&] {
        over = true;
        mail.put(RunWarning{"7", msg("the last one"), 1});
        mail.tell_end();
    });
    EXPECT_TRUE(mail.wait(60, [&] { return over.load(); }));
}

TEST(Mailbox, LosesNoCommandBetweenThreads) {
    Mailbox mail;
    constexpr int each = 1000;
    std::vector<std::jthread> senders;
    for (int t = 0; t < 2; ++t) {
        senders.emplace_back([&] {
            for (int i = 0; i < each; ++i) mail.put(Command::step);
        });
    }
    std::size_t taken = 0;
    while (taken < 2 * each) taken += mail.take_commands().size();
    EXPECT_EQ(taken, 2U * each);
}

}  // namespace
}  // namespace engine
