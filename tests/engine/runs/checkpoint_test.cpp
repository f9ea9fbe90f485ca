#include "runs/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "io/file/sha256.h"
#include "temp_folder.h"
#include "tensor/tensor.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Tensor numbers(std::vector<double> values) {
    const auto size = static_cast<std::int64_t>(values.size());
    return Tensor::of(values, {size}, DType::f32, Device{});
}

CheckpointContent content(std::int64_t step, bool best = false) {
    return {
        .weights = {{"fc.weight", numbers({1, 2, 3})}},
        .optimizer = {{"fc.weight.momentum_buffer", numbers({4, 5, 6})}},
        .carried = {},
        .quantization = {},
        .state = std::make_shared<json>(json{{"step", step}, {"best", best}, {"note", "kept"}})};
}

std::vector<std::int64_t> steps_in(const fs::path& folder) {
    std::vector<std::int64_t> steps;
    for (const auto& checkpoint : list_checkpoints(folder)) steps.push_back(checkpoint.step);
    return steps;
}

std::string checkpoint_error(const fs::path& checkpoint) {
    try {
        read_checkpoint(checkpoint);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        return error.message().str();
    }
    return {};
}

void overwrite(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

class Checkpoints : public testing::Test {
protected:
    fs::path write(std::int64_t step, bool best = false) {
        write_checkpoint(folder_.path(), content(step, best));
        return folder_ / ("checkpoint-" + std::to_string(step));
    }
    test_support::TempFolder folder_;
};

TEST_F(Checkpoints, ComeBackAsTheyWereWritten) {
    const fs::path place = write(60);
    const CheckpointContent back = read_checkpoint(place);
    EXPECT_EQ(back.weights.at("fc.weight").values(), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(back.optimizer.at("fc.weight.momentum_buffer").values(),
              (std::vector<double>{4, 5, 6}));
    EXPECT_THAT(back.carried, IsEmpty());
    EXPECT_EQ(back.state->at("note"), "kept");
    EXPECT_EQ(back.state->at("step"), 60);
    const json& file = back.state->at("files").at("weights.safetensors");
    EXPECT_EQ(file.at("sha256"), sha256_of(place / "weights.safetensors"));
    EXPECT_EQ(file.at("bytes"), fs::file_size(place / "weights.safetensors"));
}

TEST_F(Checkpoints, HiddenStateHasAFileOfItsOwn) {
    CheckpointContent with_state = content(3);
    with_state.carried = {{"0", numbers({7})}};
    write_checkpoint(folder_.path(), with_state);
    EXPECT_EQ(read_checkpoint(folder_ / "checkpoint-3").carried.at("0").values(),
              (std::vector<double>{7}));
}

TEST_F(Checkpoints, AreListedByStepAndFoundByName) {
    for (const std::int64_t step : {100, 20, 3}) write(step, step == 20);
    EXPECT_THAT(steps_in(folder_.path()), ElementsAre(3, 20, 100));
    EXPECT_EQ(find_checkpoint(folder_.path(), "last").step, 100);
    EXPECT_EQ(find_checkpoint(folder_.path(), "best").step, 20);
    EXPECT_EQ(find_checkpoint(folder_.path(), "3").step, 3);
    EXPECT_THROW(find_checkpoint(folder_.path(), "4"), Error);
    EXPECT_GT(list_checkpoints(folder_.path()).front().bytes, 0);
}

TEST_F(Checkpoints, OfARunWithoutOneAreNotFound) {
    EXPECT_THROW(find_checkpoint(folder_.path(), "last"), Error);
    write(5);
    EXPECT_THROW(find_checkpoint(folder_.path(), "best"), Error);
}

TEST_F(Checkpoints, OneOfTheSameStepTakesThePlaceOfTheOld) {
    write(5, false);
    write(5, true);
    EXPECT_TRUE(list_checkpoints(folder_.path()).front().best);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1);
}

TEST_F(Checkpoints, TheNewestAndTheBestAreKept) {
    for (std::int64_t step = 1; step <= 6; ++step) write(step, step <= 2);
    prune_checkpoints(folder_.path(), 2);
    EXPECT_THAT(steps_in(folder_.path()), ElementsAre(2, 5, 6));
}

TEST_F(Checkpoints, WhatAKilledProcessLeftIsNoCheckpointAndGoes) {
    write(5);
    fs::create_directory(folder_ / "checkpoint-6.part");
    overwrite(folder_ / "checkpoint-6.part/state.json", "{\"step\":6,\"version\":1,\"files\":{}}");
    EXPECT_THAT(steps_in(folder_.path()), ElementsAre(5));
    prune_checkpoints(folder_.path(), 3);
    EXPECT_FALSE(fs::exists(folder_ / "checkpoint-6.part"));
}

bool cannot_exchange(const fs::path&, const fs::path&) { return false; }

/// Checkpoints of step 5, the old one marked as the best.
class ReplacedCheckpoint : public Checkpoints {
protected:
    ReplacedCheckpoint() : place_(write(5, true)) {
        fs::rename(place_, folder_ / "kept");
        fs::rename(write(5, false), written_);
        fs::rename(folder_ / "kept", place_);
    }
    bool is_old(const fs::path& checkpoint) {
        return read_checkpoint(checkpoint).state->at("best").get<bool>();
    }
    std::ptrdiff_t entries() const {
        return std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator());
    }
    const fs::path old_ = folder_ / "checkpoint-5.old.part";
    const fs::path written_ = folder_ / "checkpoint-5.part";
    const fs::path place_;
};

TEST_F(ReplacedCheckpoint, GivesWayWhereTheFileSystemCannotExchangeFolders) {
    move_into_place(written_, place_, &cannot_exchange);
    EXPECT_FALSE(is_old(place_));
    EXPECT_EQ(entries(), 1);
}

TEST_F(ReplacedCheckpoint, ComesBackIfTheNewOneCannotBeMoved) {
    fs::remove_all(written_);
    EXPECT_THROW(move_into_place(written_, place_, &cannot_exchange), Error);
    EXPECT_TRUE(is_old(place_));
    EXPECT_EQ(entries(), 1);
}

TEST_F(ReplacedCheckpoint, ComesBackAfterAKillBeforeTheNewOneWasThere) {
    fs::rename(place_, old_);
    EXPECT_THAT(steps_in(folder_.path()), IsEmpty());
    prune_checkpoints(folder_.path(), 1);
    EXPECT_THAT(steps_in(folder_.path()), ElementsAre(5));
    EXPECT_TRUE(is_old(place_));
    EXPECT_EQ(entries(), 1);
}

TEST_F(ReplacedCheckpoint, GoesAfterAKillThatLeftBoth) {
    fs::rename(place_, old_);
    fs::rename(written_, place_);
    prune_checkpoints(folder_.path(), 1);
    EXPECT_FALSE(is_old(place_));
    EXPECT_EQ(entries(), 1);
}

TEST_F(ReplacedCheckpoint, SurvivesTheNextOneThatCannotBeWritten) {
    fs::rename(place_, old_);
    const auto fail = [] { throw Error(ErrorCode::io, msg("the hold is lost")); };
    EXPECT_THROW(write_checkpoint(folder_.path(), content(5), fail), Error);
    EXPECT_TRUE(is_old(place_));
    EXPECT_EQ(entries(), 1);
}

TEST_F(Checkpoints, ADamagedFileIsRefusedByItsChecksum) {
    const fs::path place = write(5);
    std::fstream file(place / "weights.safetensors",
                      std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-1, std::ios::end);
    file.put('\x55');
    file.close();
    EXPECT_THAT(checkpoint_error(place), HasSubstr("weights.safetensors: the file is damaged"));
}

TEST_F(Checkpoints, AMissingFileALinkAndAStateThatLiesAreRefused) {
    const fs::path place = write(5);
    fs::rename(place / "optimizer.safetensors", folder_ / "elsewhere");
    EXPECT_THAT(checkpoint_error(place), HasSubstr("optimizer.safetensors: the checkpoint lacks"));
    fs::create_symlink(folder_ / "elsewhere", place / "optimizer.safetensors");
    EXPECT_THAT(checkpoint_error(place), HasSubstr("optimizer.safetensors: the checkpoint lacks"));
    for (const std::string text :
         {"", "[]", "{}", R"({"version":1,"step":6,"files":{}})", R"({"version":1,"step":5})",
          R"({"version":1,"step":5,"files":[]})", R"({"version":2,"step":5,"files":{}})",
          R"({"version":1,"step":5,"files":{"weights.safetensors":{"sha256":7}}})"}) {
        overwrite(place / "state.json", text);
        EXPECT_NE(checkpoint_error(place), "") << text;
    }
}

TEST_F(Checkpoints, OfOtherNamesAreNotListed) {
    for (const char* name : {"checkpoint-", "checkpoint-05", "checkpoint--1", "checkpoint-1x",
                             "checkpoint-99999999999999999999"}) {
        fs::create_directory(folder_ / name);
    }
    EXPECT_THAT(steps_in(folder_.path()), IsEmpty());
}

TEST_F(Checkpoints, AFolderThatCannotBeWrittenIsAnIoErrorAndLeavesNothing) {
    const fs::path file = folder_ / "file";
    overwrite(file, "not a folder");
    EXPECT_THROW(write_checkpoint(file, content(1)), Error);
    EXPECT_THAT(steps_in(folder_.path()), IsEmpty());
}

}  // namespace
}  // namespace engine
