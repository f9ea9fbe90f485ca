#include "engine/train/resume.h"

#include <fstream>

#include "engine/base/error.h"
#include "record/step_record.h"
#include "resume_support.h"
#include "support/click_run.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::Ended;
using test::spirals;
using testing::HasSubstr;

class ResumeDamage : public test::ResumedRuns {};

TEST_F(ResumeDamage, ADamagedCheckpointGivesWayToTheOneBefore) {
    RunConfig config = spirals(20);
    config.checkpoint.every_steps = 5;
    const Ended stopped = train_to(config, 13);
    const fs::path last = find_checkpoint(stopped.folder, "last").folder;
    ASSERT_EQ(last.filename(), "checkpoint-13");
    fs::resize_file(last / "weights.safetensors", 10);
    const ResumePlan plan = plan_resume(*store_->find(stopped.run));
    EXPECT_EQ(plan.step, 10);
    ASSERT_EQ(plan.notes.size(), 1U);
    EXPECT_THAT(plan.notes[0].str(), HasSubstr("weights.safetensors"));
    EXPECT_THAT(plan.notes[0].str(), HasSubstr("the 3 recorded steps after it"));
    EXPECT_THROW(plan_resume(*store_->find(stopped.run), "13"), Error);
    EXPECT_TRUE(fs::exists(last)) << "a plan changes nothing";
    EXPECT_EQ(resume(stopped).figures, train(config).figures);
    EXPECT_FALSE(fs::exists(last));
    EXPECT_TRUE(fs::exists(last.string() + ".damaged/state.json")) << "moved aside";
}

TEST_F(ResumeDamage, ACheckpointThatAKillLeftBesideItsPlaceIsTaken) {
    const RunConfig config = spirals(6);
    const Ended stopped = train_to(config, 4);
    const fs::path last = find_checkpoint(stopped.folder, "last").folder;
    fs::rename(last, last.string() + ".old.part");
    EXPECT_EQ(plan_resume(*store_->find(stopped.run)).step, 4);
    EXPECT_EQ(resume(stopped).figures, train(config).figures);
}

/// Ways in which a checkpoint cannot be read, and what the error says.
struct Damage {
    std::string name;
    std::function<void(const fs::path&)> apply;
    std::string sentence;
};

std::string text_in(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void write_text(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

/// Replaces the first `from` in a checkpoint's state. With `as_before` as earlier versions wrote
/// it, without a checksum.
void edit_state(const fs::path& checkpoint, const std::string& from, const std::string& to,
                bool as_before = false) {
    std::string text = text_in(checkpoint / "state.json");
    const auto replace = [&text](const std::string& a, const std::string& b) {
        const auto at = text.find(a);
        ASSERT_NE(at, std::string::npos) << a;
        text.replace(at, a.size(), b);
    };
    replace(from, to);
    if (as_before) {
        replace("  \"checksum\": \"state.sha256\",\n", "");
        fs::remove(checkpoint / "state.sha256");
    }
    write_text(checkpoint / "state.json", text);
}

std::string number_after(const fs::path& checkpoint, const std::string& key) {
    const std::string text = text_in(checkpoint / "state.json");
    const auto at = text.find(key) + key.size();
    return key + text.substr(at, text.find_first_of(",\n", at) - at);
}

const std::vector<Damage>& damages() {
    static const std::vector<Damage> list = {
        {"state cut short", [](const fs::path& at) { fs::resize_file(at / "state.json", 100); },
         "the state of the checkpoint cannot be read"},
        {"weights cut short",
         [](const fs::path& at) { fs::resize_file(at / "weights.safetensors", 100); },
         "weights.safetensors: the file is damaged"},
        {"state missing", [](const fs::path& at) { fs::remove(at / "state.json"); },
         "the state of the checkpoint cannot be read"},
        {"optimizer missing", [](const fs::path& at) { fs::remove(at / "optimizer.safetensors"); },
         "the checkpoint lacks this file"},
        {"checksum missing", [](const fs::path& at) { fs::remove(at / "state.sha256"); },
         "the checkpoint lacks this file"},
        {"empty folder",
         [](const fs::path& at) {
             fs::remove_all(at);
             fs::create_directory(at);
         },
         "the state of the checkpoint cannot be read"},
        {"a later version",
         [](const fs::path& at) { edit_state(at, "\"version\": 1", "\"version\": 2"); },
         "of a later version of this program"}};
    return list;
}

TEST_F(ResumeDamage, ARunWhoseCheckpointsCannotBeReadIsLeftAsItIs) {
    RunConfig config = spirals(20);
    config.checkpoint.every_steps = 5;
    for (const Damage& damage : damages()) {
        const Ended stopped = train_to(config, 13);
        const auto all = list_checkpoints(stopped.folder);
        ASSERT_GE(all.size(), 2U);
        for (const auto& each : all) damage.apply(each.folder);
        const std::string record = text_in(stopped.folder / "steps.rec");
        try {
            (void)plan_resume(*store_->find(stopped.run));
            ADD_FAILURE() << damage.name << ": it began at step 0";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::data);
            EXPECT_THAT(error.message().str(), HasSubstr(damage.sentence)) << damage.name;
            EXPECT_THAT(error.hint().str(), HasSubstr("Nothing was changed")) << damage.name;
        }
        EXPECT_EQ(text_in(stopped.folder / "steps.rec"), record);
        const Ended anew = resume(stopped, "start");
        EXPECT_NE(anew.run, stopped.run) << damage.name;
        EXPECT_EQ(anew.figures.size(), 20U);
        EXPECT_EQ(store_->find(anew.run)->parent, stopped.run);
        EXPECT_EQ(text_in(stopped.folder / "steps.rec"), record) << damage.name;
    }
}

TEST_F(ResumeDamage, OnlyTheNewestOfALaterVersionIsRefusedToo) {
    RunConfig config = spirals(20);
    config.checkpoint.every_steps = 5;
    const Ended stopped = train_to(config, 13);
    edit_state(stopped.folder / "checkpoint-13", "\"version\": 1", "\"version\": 2");
    EXPECT_THROW((void)plan_resume(*store_->find(stopped.run)), Error);
    const Ended earlier = resume(stopped, "10");
    EXPECT_NE(earlier.run, stopped.run) << "the rows that it does not know stay";
    EXPECT_EQ(stopped.record.size(), 13);
}

TEST_F(ResumeDamage, CheckpointsThatAreGoneAreNoBeginning) {
    const Ended stopped = train_to(spirals(20), 7);
    fs::remove_all(stopped.folder / "checkpoint-7");
    try {
        (void)plan_resume(*store_->find(stopped.run));
        FAIL() << "it began at step 0";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        EXPECT_THAT(error.message().str(), HasSubstr("are gone"));
    }
}

TEST_F(ResumeDamage, AChangedStateIsNoticedByItsChecksum) {
    const Ended stopped = train_to(spirals(20), 7);
    const fs::path at = stopped.folder / "checkpoint-7";
    const std::string whole = text_in(at / "state.json");
    for (const char* key : {"\"scale\": ", "\"growth_tracker\": ", "\"seed\": ", "\"updates\": ",
                            "\"batch\": ", "\"saved\": "}) {
        edit_state(at, number_after(at, key), std::string(key) + "8");
        try {
            (void)plan_resume(*store_->find(stopped.run));
            ADD_FAILURE() << key;
        } catch (const Error& error) {
            EXPECT_THAT(error.message().str(), HasSubstr("state.json: the file is damaged"));
        }
        write_text(at / "state.json", whole);
    }
    EXPECT_EQ(plan_resume(*store_->find(stopped.run)).step, 7);
}

TEST_F(ResumeDamage, ACheckpointOfAnEarlierVersionHasNoChecksumOfItsState) {
    const RunConfig config = spirals(20);
    const Ended stopped = train_to(config, 7);
    edit_state(stopped.folder / "checkpoint-7", "\"version\": 1", "\"version\": 1",
               /*as_before=*/true);
    EXPECT_EQ(resume(stopped).figures, train(config).figures);
}

TEST_F(ResumeDamage, AnImpossiblePlaceInTheDataIsRefused) {
    const std::string epoch = "\"epoch\": ", batch = "\"batch\": ", steps = "\"steps\": ";
    const RunConfig config = spirals(30);
    const Ended stopped = train_to(config, 7);
    const fs::path at = stopped.folder / "checkpoint-7";
    const std::string whole = text_in(at / "state.json");
    const std::string checksum = text_in(at / "state.sha256");
    const std::string record = text_in(stopped.folder / "steps.rec");
    // The numbers of "progress" come after those of "data", which are not read back.
    const auto set = [&](const std::string& key, const std::string& value) {
        std::string text = whole;
        const auto from = text.find("\"progress\"");
        const auto found = text.find(key, key == steps ? text.find("\"counts\"") : from);
        const auto end = text.find_first_of(",\n", found);
        text.replace(found, end - found, key + value);
        write_text(at / "state.json", text);
        edit_state(at, "\"version\": 1", "\"version\": 1", /*as_before=*/true);
    };
    std::vector<std::pair<std::string, std::string>> bad;
    for (const char* value : {"1000000", "-1", "1e300", "0.5", "\"nan\"", "-9e18"}) {
        bad.emplace_back(batch, value);
        bad.emplace_back(epoch, value);
    }
    bad.emplace_back(steps, "-1");
    bad.emplace_back(steps, "8");
    bad.emplace_back(steps, "1e300");
    for (const auto& [key, value] : bad) {
        set(key, value);
        SessionOptions options;
        options.continuation = {stopped.folder, at, true, {}, {}};
        const Ended refused = train(config, options);
        ASSERT_EQ(refused.all<RunFailed>().size(), 1U) << key << value;
        EXPECT_EQ(refused.all<RunFailed>()[0].code, ErrorCode::data) << key << value;
        EXPECT_EQ(text_in(stopped.folder / "steps.rec"), record) << key << value;
        write_text(at / "state.json", whole);
        write_text(at / "state.sha256", checksum);
    }
    EXPECT_EQ(resume(stopped).figures, train(config).figures);
}

}  // namespace
}  // namespace engine
