#include "engine/runs/followed_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "engine/base/error.h"
#include "engine/runs/run_store.h"
#include "record/event_json.h"
#include "runs/run_folder.h"
#include "runs/run_hold.h"
#include "step_record_support.h"
#include "support/part_figures.h"
#include "support/patience.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test::append_steps;
using testing::HasSubstr;

/// A run that the test writes step by step, as another process would.
struct FollowedRunTest : testing::Test {
    void start() {
        made = store.create({}, folder);
        writer.emplace(StepRecordWriter::create(made.folder));
        RunStarted event{};
        event.run = made.run;
        event.origin = RunOrigin{.program = "Elsewhere 1.0", .model = "Net"};
        event.folder = "/on/another/machine";
        store.append(event);
    }
    void end(DoneReason reason, std::int64_t steps) {
        store.append(RunDone{made.run, reason, steps, steps, 0, classified(0.5, 0.8), 1, 1, 1});
    }
    /// Polls until the run has this state. Returns the events.
    std::vector<Event> look_until(RunState state) {
        std::vector<Event> events;
        EXPECT_TRUE(test::comes_true([&] {
            if (followed.state() == state) return true;
            for (auto& event : followed.drain()) events.push_back(std::move(event));
            return followed.state() == state;
        }));
        return events;
    }
    template <typename T>
    static std::optional<T> last(const std::vector<Event>& events) {
        std::optional<T> found;
        for (const auto& event : events) {
            if (const auto* one = std::get_if<T>(&event)) found = *one;
        }
        return found;
    }

    test_support::TempFolder root;
    std::filesystem::path folder = root / "elsewhere";
    RunStore store{root / "runs"};
    RunStore::NewRun made;
    std::optional<StepRecordWriter> writer;
    FollowedRun followed{folder};
};

TEST_F(FollowedRunTest, WaitsForAFolderAndThenShowsTheRunToItsEnd) {
    EXPECT_TRUE(followed.drain().empty());
    EXPECT_EQ(followed.state(), RunState::idle);
    EXPECT_EQ(followed.record().size(), 0);
    start();
    append_steps(*writer, 3);
    const auto begun = last<RunStarted>(look_until(RunState::training));
    ASSERT_TRUE(begun && begun->origin);
    EXPECT_EQ(begun->origin->model, "Net");
    EXPECT_EQ(begun->folder, folder.string()) << "where it is here";
    EXPECT_EQ(followed.record().size(), 3);
    EXPECT_EQ(followed.run(), made.run);
    append_steps(*writer, 897);
    EXPECT_EQ(followed.record().size(), 900);
    end(DoneReason::epochs, 900);
    const auto done = last<RunDone>(look_until(RunState::done));
    ASSERT_TRUE(done);
    EXPECT_EQ(done->steps, 900);
    EXPECT_FALSE(followed.interrupted());
    EXPECT_TRUE(followed.drain().empty()) << "nothing more";
}

TEST_F(FollowedRunTest, ManyEventsComeInPartsWithoutAWaitBetweenThem) {
    start();
    append_steps(*writer, 1);
    constexpr int warnings = 3000;
    {
        std::ofstream events(folder / events_file, std::ios::app);
        for (int i = 0; i < warnings; ++i)
            events << to_json_line(RunWarning{made.run, msg("a sentence of about this length"), 1})
                   << '\n';
    }
    ASSERT_GT(std::filesystem::file_size(folder / events_file), 150'000U);
    std::size_t all = 0, most = 0;
    int drains = 0;
    do {
        const auto part = followed.drain();
        most = std::max(most, part.size());
        all += part.size();
        ++drains;
    } while (followed.is_behind());
    EXPECT_GE(all, std::size_t{warnings});
    EXPECT_LT(most, std::size_t{warnings});
    EXPECT_LT(drains, 20);
}

TEST_F(FollowedRunTest, APauseAndItsWriterShow) {
    start();
    append_steps(*writer, 1);
    (void)look_until(RunState::training);
    EXPECT_TRUE(followed.writer().is_there);
    EXPECT_EQ(followed.writer().host, "") << "this machine";
    EXPECT_EQ(followed.writer().process, ::getpid());
    made.hold->lease().show("paused");
    (void)look_until(RunState::paused);
    made.hold->lease().show("training");
    (void)look_until(RunState::training);
    made.hold->lease().show("paused");
    end(DoneReason::stopped, 1);
    (void)look_until(RunState::done);
    EXPECT_FALSE(followed.writer().is_there);
}

TEST_F(FollowedRunTest, ADeadWriterIsToldOnce) {
    start();
    append_steps(*writer, 5);
    (void)look_until(RunState::training);
    // The process is gone: its lock is free and there is no end event. This test's store holds the
    // lock through the file that it opened.
    std::filesystem::remove(folder / lock_file);
    std::filesystem::remove(folder / "lease.1");
    const auto warning = last<RunWarning>(look_until(RunState::failed));
    ASSERT_TRUE(warning);
    EXPECT_THAT(warning->message.str(), HasSubstr("ended without finishing"));
    EXPECT_EQ(warning->step, 5);
    EXPECT_TRUE(followed.interrupted());
}

TEST_F(FollowedRunTest, AFailureComesWithItsWords) {
    start();
    append_steps(*writer, 2);
    store.append(RunFailed{made.run, ErrorCode::training, "out of patience", ""});
    end(DoneReason::failed, 2);
    const auto events = look_until(RunState::failed);
    ASSERT_TRUE(last<RunFailed>(events));
    EXPECT_EQ(last<RunFailed>(events)->message.str(), "out of patience");
    EXPECT_TRUE(last<RunDone>(events)) << "the event after it is waited for";
    EXPECT_FALSE(followed.interrupted());
}

TEST_F(FollowedRunTest, ARecordThatIsNoneEndsItWithASentence) {
    start();
    std::ofstream(folder / "steps.rec") << std::string(8192, 'x');
    const auto failed = last<RunFailed>(look_until(RunState::failed));
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->code, ErrorCode::data);
    EXPECT_THAT(failed->message.str(), HasSubstr("not a step record"));
}

}  // namespace
}  // namespace engine
