#include "runs/run_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "engine/base/error.h"
#include "engine/io/work_scope.h"
#include "engine/runs/export.h"
#include "io/zip/zip.h"
#include "record/step_record.h"
#include "runs/checkpoint.h"
#include "runs/run_folder.h"
#include "step_record_support.h"
#include "stored_example.h"
#include "support/expectations.h"
#include "support/patience.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class RunArchive : public testing::Test {
protected:
    /// A run with one file of a checkpoint, as an archive.
    fs::path packed() {
        const auto run = stored_example(store_);
        fs::create_directory(run.folder / "checkpoint-3");
        write_file_at(run.folder / "checkpoint-3" / "state.json", "{}");
        export_run_file(run.folder, dir_ / "run.halftone");
        return dir_ / "run.halftone";
    }
    static void write_file_at(const fs::path& file, const std::string& text) {
        std::ofstream(file, std::ios::binary) << text;
    }
    /// A zip archive with these entries, in this order.
    fs::path zip_of(const std::vector<std::pair<std::string, std::string>>& entries) {
        ZipWriter zip(dir_ / "made.halftone");
        for (const auto& [name, text] : entries) zip.add_text(name, text);
        zip.commit();
        return dir_ / "made.halftone";
    }
    /// The sentence of the error. Also expects that neither the store nor the folder above has a
    /// new entry.
    std::string error_text(const fs::path& file) {
        const auto before = listing(dir_.path());
        const std::string text = message_of(ErrorCode::data, [&] { store_.import_run(file); });
        EXPECT_EQ(listing(dir_.path()), before);
        EXPECT_THAT(store_.list(), IsEmpty());
        return text;
    }
    /// Error text of an archive with these settings; the store may hold runs.
    std::string error_text_of_settings(const std::string& settings) {
        return message_of(ErrorCode::data, [&] {
            store_.import_run(zip_of({{"config.json", settings}}));
        });
    }
    static std::set<std::string> listing(const fs::path& folder) {
        std::set<std::string> out;
        for (const auto& entry : fs::recursive_directory_iterator(folder))
            out.insert(entry.path().string());
        return out;
    }

    const test_support::TempFolder dir_;
    RunStore store_{dir_ / "runs"};
    const std::pair<std::string, std::string> settings_{"config.json", "{}"};
};

TEST_F(RunArchive, IsImportedAsANewRunWithAllThatThePersonWrote) {
    const fs::path file = packed();
    const auto made = store_.import_run(file);
    EXPECT_EQ(made.run, "2");
    EXPECT_EQ(made.folder, dir_ / "runs" / "2");
    const auto runs = store_.list();
    ASSERT_THAT(runs, SizeIs(2));
    const RunSummary first = *store_.find("1"), second = *store_.find("2");
    EXPECT_EQ(second.title, "first try");
    EXPECT_EQ(second.tags, "a, b");
    EXPECT_EQ(second.notes, "line\nline");
    EXPECT_TRUE(second.starred);
    EXPECT_EQ(second.group, first.group);
    EXPECT_FALSE(second.group.empty());
    EXPECT_EQ(second.state, "done");
    EXPECT_EQ(second.config, first.config);
    EXPECT_EQ(second.started, first.started);
    EXPECT_EQ(second.test.loss, first.test.loss);
    EXPECT_EQ(StepRecordReader::open(made.folder).size(), 3);
    EXPECT_TRUE(fs::exists(made.folder / "checkpoint-3" / "state.json"));
    EXPECT_FALSE(fs::exists(made.folder / "lock"));
    const auto events = store_.events("2");
    ASSERT_THAT(events, SizeIs(4));
    EXPECT_EQ(std::get<RunStarted>(events.front()).run, "2");
    EXPECT_EQ(std::get<RunStarted>(events.front()).folder, made.folder.string());
    for (const auto& entry : fs::directory_iterator(dir_ / "runs"))
        EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr("import")));
}

/// A run that is being trained, with 10 rows and an event at each step.
class RunningRun : public RunArchive {
protected:
    RunningRun() {
        auto record = StepRecordWriter::create(run_.folder);
        test::append_steps(record, 10);
        for (int step = 1; step <= 10; ++step) store_.append(RunWarning{run_.run, msg("w"), step});
    }
    void checkpoint(std::int64_t step) {
        CheckpointContent content;
        content.state =
            std::make_shared<nlohmann::json>(nlohmann::json{{"step", step}, {"best", false}});
        write_checkpoint(run_.folder, content);
    }
    RunStore::NewRun imported() {
        export_run_file(run_.folder, dir_ / "run.halftone");
        return store_.import_run(dir_ / "run.halftone");
    }
    static std::set<std::string> names_in(const fs::path& folder) {
        std::set<std::string> out;
        for (const auto& entry : fs::directory_iterator(folder))
            out.insert(entry.path().filename().string());
        return out;
    }

    const RunStore::NewRun run_ = store_.create({});
};

TEST_F(RunningRun, IsPackedWithItsLastWholeCheckpointAndWhatLeadsToIt) {
    checkpoint(4);
    checkpoint(8);
    for (const char* name : {"checkpoint-12.part", "checkpoint-9.part/deeper", "skips"})
        fs::create_directories(run_.folder / name);
    write_file_at(run_.folder / "checkpoint-12.part/weights.safetensors", "half");
    write_file_at(run_.folder / "checkpoint-9.part/deeper/x", "half");
    write_file_at(run_.folder / "skips/3.json.77.part", "half");
    write_file_at(run_.folder / "inputs.json.77.part", "half");
    const auto made = imported();
    EXPECT_EQ(StepRecordReader::open(made.folder).size(), 8);
    EXPECT_EQ(StepRecordReader::open(run_.folder).size(), 10) << "which is left as it is";
    EXPECT_THAT(store_.events(made.run), SizeIs(8));
    EXPECT_EQ(names_in(made.folder),
              (std::set<std::string>{"checkpoint-8", "config.json", "events.jsonl", "steps.rec"}));
    const RunSummary run = *store_.find(made.run);
    EXPECT_EQ(run.state, "interrupted");
    EXPECT_EQ(run.steps, 8);
}

TEST_F(RunningRun, WithoutACheckpointIsPackedWithAllItsRows) {
    fs::create_directory(run_.folder / "checkpoint-4.part");
    write_file_at(run_.folder / "checkpoint-4.part/state.json", "{}");
    const auto made = imported();
    EXPECT_EQ(StepRecordReader::open(made.folder).size(), 10);
    EXPECT_THAT(store_.events(made.run), SizeIs(10));
    EXPECT_EQ(names_in(made.folder),
              (std::set<std::string>{"config.json", "events.jsonl", "steps.rec"}));
}

TEST_F(RunningRun, IsPackedWhileItsCheckpointsComeAndGo) {
    checkpoint(1);
    std::atomic<bool> over{false};
    std::thread trainer([&] {
        for (std::int64_t step = 2; !over; step = step % 10 + 1) {
            checkpoint(step);
            prune_checkpoints(run_.folder, 2);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    });
    for (int i = 0; i < 10; ++i) {
        fs::path made;
        // Each packing may meet a checkpoint that is being removed, and is tried five times.
        ASSERT_TRUE(test::comes_true([&] {
            try {
                made = imported().folder;
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::data);
            }
            return !made.empty();
        }));
        int checkpoints = 0;
        for (const std::string& name : names_in(made)) {
            EXPECT_FALSE(name.ends_with(".part")) << name;
            if (!name.starts_with("checkpoint-")) continue;
            ++checkpoints;
            EXPECT_EQ(name, "checkpoint-" + std::to_string(StepRecordReader::open(made).size()));
            EXPECT_NO_THROW(read_checkpoint(made / name));
        }
        EXPECT_EQ(checkpoints, 1);
    }
    over = true;
    trainer.join();
}

TEST_F(RunningRun, ThatHasEndedIsPackedWithoutWhatItLeftUnfinished) {
    checkpoint(4);
    checkpoint(8);
    fs::create_directory(run_.folder / "checkpoint-10.part");
    write_file_at(run_.folder / "checkpoint-10.part/state.json", "{}");
    store_.append(RunDone{run_.run, DoneReason::stopped, 10, 10, 0, {}, 1, 1, 1});
    const auto made = imported();
    EXPECT_EQ(StepRecordReader::open(made.folder).size(), 10);
    EXPECT_EQ(names_in(made.folder),
              (std::set<std::string>{"checkpoint-4", "checkpoint-8", "config.json", "events.jsonl",
                                     "steps.rec"}));
}

TEST_F(RunArchive, OfAnEarlierVersionMayHaveUnfinishedFilesWhichAreLeftOut) {
    const auto made = store_.import_run(zip_of({settings_,
                                                {"checkpoint-9.part/state.json", "{}"},
                                                {"inputs.json.5.part", "{"},
                                                {"skips/7.json.5.part", "{"}}));
    EXPECT_TRUE(fs::exists(made.folder / "config.json"));
    EXPECT_FALSE(fs::exists(made.folder / "checkpoint-9.part"));
    EXPECT_FALSE(fs::exists(made.folder / "inputs.json.5.part"));
    EXPECT_FALSE(fs::exists(made.folder / "skips"));
}

TEST_F(RunArchive, IsFoundAgainWhenTheHistoryIsRebuilt) {
    const fs::path file = packed();
    store_.import_run(file);
    store_.import_run(file);
    store_.rebuild();
    EXPECT_THAT(store_.list(), SizeIs(3));
    EXPECT_EQ(store_.find("3")->folder, dir_ / "runs" / "3");
    EXPECT_EQ(store_.find("3")->title, "first try");
}

TEST_F(RunArchive, OfARunWhoseFirstLineIsLostGetsItsIdAnew) {
    const auto made = store_.import_run(zip_of({settings_}));
    EXPECT_EQ(made.run, "1");
    store_.rebuild();
    EXPECT_EQ(store_.find("1")->state, "interrupted");
}

TEST_F(RunArchive, CanBeGivenUpWhileItIsUnpacked) {
    const fs::path file = packed();
    RunStore store(dir_ / "other");
    const auto before = listing(dir_ / "other");
    double reached = 0;
    {
        const WorkScope scope([&](double share) {
            reached = share;
            if (share > 0.5) throw Error(ErrorCode::state, msg("Cancelled."));
        });
        EXPECT_EQ(message_of(ErrorCode::state, [&] { store.import_runs(file); }), "Cancelled.");
    }
    EXPECT_GT(reached, 0.5);
    EXPECT_EQ(listing(dir_ / "other"), before);
    EXPECT_THAT(store.list(), IsEmpty());
    EXPECT_EQ(store.import_run(file).run, "1") << "no number was used up";
}

TEST_F(RunArchive, WithNamesThatLeaveTheFolderOrAreNotPlainIsRefused) {
    for (const char* name :
         {"../outside", "/tmp/halftone-outside", "a/../../b", "a//b", "./a", "..", "a/.", ".hidden",
          "a b", "a:b", "a/b/c/d", "a\nb", "checkpoint-1/.x", "\xC3\xA4"}) {
        SCOPED_TRACE(name);
        EXPECT_THAT(error_text(zip_of({settings_, {name, "x"}})),
                    HasSubstr("it has an entry with an unsafe name"));
    }
    EXPECT_FALSE(fs::exists("/tmp/halftone-outside"));
}

TEST_F(RunArchive, WithAnEntryTwiceOrInAnothersPlaceIsRefused) {
    EXPECT_THAT(error_text(zip_of({settings_, {"a", "x"}, {"a", "y"}})),
                HasSubstr("a appears twice"));
    EXPECT_THAT(error_text(zip_of({settings_, {"A", "x"}, {"a", "y"}})),
                HasSubstr("a appears twice"));
    EXPECT_THAT(error_text(zip_of({settings_, {"a", "x"}, {"a/b", "y"}})),
                HasSubstr("appears twice"));
    EXPECT_THAT(error_text(zip_of({settings_, {"a/b", "x"}, {"a", "y"}})),
                HasSubstr("appears twice"));
    for (const char* name : {"lock", "lease.1", "lease.1.part"}) {
        EXPECT_THAT(error_text(zip_of({settings_, {name, ""}})),
                    HasSubstr("appears twice, or is not part of a run"));
    }
}

TEST_F(RunArchive, WithoutSettingsIsRefused) {
    EXPECT_THAT(error_text(zip_of({{"events.jsonl", ""}})), HasSubstr("it has no settings"));
    EXPECT_THAT(error_text(zip_of({{"config.json", "no"}})), HasSubstr("it has no settings"));
}

TEST_F(RunArchive, WithNotesThatNobodyWroteByHandIsRefused) {
    EXPECT_THAT(error_text(zip_of({settings_, {"notes.json", std::string(2 << 20, 'x')}})),
                HasSubstr("its events or notes are longer than those of any run"));
}

std::string line_of(const std::string& message) {
    return "{\"event\":\"warning\",\"run\":\"1\",\"message\":\"" + message + "\"}\n";
}
std::string repeated(const std::string& line, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += line;
    return out;
}

TEST_F(RunArchive, WithFarMoreEventsThanStepsIsRefused) {
    EXPECT_THAT(error_text(zip_of({settings_, {"events.jsonl", repeated(line_of("w"), 1001)}})),
                HasSubstr("it has more than 1000 events for 0 recorded steps"));
    // Lines that are no events take their time too.
    for (const char* line : {"\n", "{}\n", "[[[[\n"})
        EXPECT_THAT(error_text(zip_of({settings_, {"events.jsonl", repeated(line, 1001)}})),
                    HasSubstr("it has more than 1000 events"));
    store_.import_run(zip_of({settings_, {"events.jsonl", repeated(line_of("w"), 1000)}}));
    EXPECT_THAT(store_.events("1"), SizeIs(1000));
}

TEST_F(RunArchive, MayHaveTwentyEventsAStepMore) {
    const auto run = stored_example(store_);  // of three steps
    std::ofstream(run.folder / "events.jsonl", std::ios::app) << repeated(line_of("w"), 1055);
    export_run_file(run.folder, dir_ / "run.halftone");  // 1060 lines
    EXPECT_EQ(store_.import_run(dir_ / "run.halftone").run, "2");
    std::ofstream(run.folder / "events.jsonl", std::ios::app) << line_of("w");
    export_run_file(run.folder, dir_ / "run.halftone");
    EXPECT_THAT(message_of(ErrorCode::data, [&] { store_.import_run(dir_ / "run.halftone"); }),
                HasSubstr("it has more than 1060 events for 3 recorded steps"));
}

TEST_F(RunArchive, WithDeepNestingIsListedWithoutThoseEvents) {
    const std::string deep(100'000, '[');
    std::string closed = deep;
    closed.append(100'000, ']');
    std::string events;
    for (const std::string& value : {deep, closed, "{\"a\":" + closed + "}"}) {
        events += "{\"event\":\"start\",\"run\":\"1\",\"config\":" + value + "}\n";
        events += "{\"event\":\"created\",\"time\":" + value + "}\n";
        events += "{\"event\":\"warning\",\"run\":\"1\",\"message_args\":" + value + "}\n";
        events += value + "\n";
    }
    events += line_of("the last");
    store_.import_run(zip_of({settings_, {"events.jsonl", events}}));
    ASSERT_THAT(store_.list(), SizeIs(1));
    ASSERT_THAT(store_.events("1"), SizeIs(1));
    EXPECT_THAT(error_text_of_settings("{\"model\":" + closed + "}"),
                HasSubstr("it has no settings"));
}

TEST_F(RunArchive, WithADamagedRecordIsRefused) {
    EXPECT_THAT(error_text(zip_of({settings_, {"steps.rec", "no record"}})),
                HasSubstr("steps.rec"));
}

TEST_F(RunArchive, ThatUnpacksToFarMoreThanItsSizeIsRefused) {
    EXPECT_THAT(error_text(zip_of({settings_, {"a", std::string(100 << 20, '\0')}})),
                HasSubstr("it unpacks to more than a file of"));
    std::vector<std::pair<std::string, std::string>> many{settings_};
    for (int i = 0; i < 10001; ++i) many.emplace_back("f" + std::to_string(i), "");
    EXPECT_THAT(error_text(zip_of(many)), HasSubstr("it has too many entries"));
}

TEST_F(RunArchive, ThatIsCutOrNoneIsRefused) {
    std::ofstream(dir_ / "text.halftone") << "no archive";
    EXPECT_THAT(error_text(dir_ / "text.halftone"), HasSubstr("not a valid zip archive"));
    EXPECT_THAT(error_text(dir_ / "absent.halftone"), HasSubstr("cannot be read"));
}

TEST_F(RunArchive, WithALinkIsRefused) {
    const fs::path file = dir_ / "link.halftone";
    archive* zip = archive_write_new();
    archive_write_set_format_zip(zip);
    archive_write_open_filename(zip, file.c_str());
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, "config.json");
    archive_entry_set_filetype(entry, AE_IFLNK);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_symlink(entry, "/etc/passwd");
    EXPECT_EQ(archive_write_header(zip, entry), ARCHIVE_OK);
    archive_entry_free(entry);
    archive_write_free(zip);
    EXPECT_THAT(error_text(file), HasSubstr("config.json is a link or a device"));
}

TEST_F(RunArchive, LeavesOutLocksUnfinishedFilesAndLinks) {
    const auto run = stored_example(store_);
    write_file_at(run.folder / "config.json.123.part", "x");
    fs::create_symlink("/etc/passwd", run.folder / "passwd");
    export_run_file(run.folder, dir_ / "run.halftone");
    const auto made = store_.import_run(dir_ / "run.halftone");
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(made.folder))
        names.insert(entry.path().filename().string());
    EXPECT_EQ(names,
              (std::set<std::string>{"config.json", "events.jsonl", "notes.json", "steps.rec"}));
}

TEST_F(RunArchive, OfAFolderWithoutARunIsRefused) {
    EXPECT_THAT(
        message_of(ErrorCode::data, [&] { export_run_file(dir_ / "runs", dir_ / "run.halftone"); }),
        HasSubstr("not the folder of a run"));
}

}  // namespace
}  // namespace engine
