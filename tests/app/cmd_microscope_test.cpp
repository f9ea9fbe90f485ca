#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "spirals.h"

namespace app {
namespace {

using nlohmann::json;
using testing::Contains;

using testing::HasSubstr;

class Microscope : public testing::Test {
protected:
    void train(const std::vector<std::string>& more = {}) {
        std::vector<std::string> settings = {"--set", "max_steps=20", "--set",
                                             "instruments.histograms_every=5"};
        settings.insert(settings.end(), more.begin(), more.end());
        Program program(spirals("train", settings), {home_.str(), {}});
        program.finish();
        ASSERT_EQ(program.exit_code(), 0) << program.errors();
        steps_ = events_of(program, "step");
    }
    std::string run(const std::vector<std::string>& more, int exit_code = 0) {
        std::vector<std::string> args = {"microscope"};
        args.insert(args.end(), more.begin(), more.end());
        Program program(args, {home_.str(), {}});
        program.finish();
        EXPECT_EQ(program.exit_code(), exit_code) << program.errors();
        errors_ = program.errors();
        return program.output_text();
    }
    json json_of(std::vector<std::string> more) {
        more.emplace_back("--json");
        return json::parse(run(more));
    }

    test_support::TempFolder home_;
    std::vector<json> steps_;
    std::string errors_;
};

std::vector<std::string> layers_of(const json& found) {
    std::vector<std::string> out;
    for (const auto& each : found["layers"]) out.push_back(each["layer"]);
    return out;
}

/// By layer: the number of values in a file of tensors, and, for F32, the number in each bin.
struct Dumped {
    std::map<std::string, std::int64_t> values;
    std::map<std::string, std::vector<std::int64_t>> bins;
};

Dumped read_dump(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    const std::string all = text.str();
    std::uint64_t header = 0;
    std::memcpy(&header, all.data(), sizeof header);
    const json tensors = json::parse(all.substr(sizeof header, header));
    Dumped out;
    for (const auto& [name, tensor] : tensors.items()) {
        if (name == "__metadata__") continue;
        const std::string layer = name.substr(0, name.rfind('.'));
        std::int64_t count = 1;
        for (const auto& size : tensor["shape"]) count *= size.get<std::int64_t>();
        out.values[layer] += count;
        if (tensor["dtype"] != "F32") continue;
        auto& bins = out.bins.try_emplace(layer, 66).first->second;
        const char* from =
            all.data() + sizeof header + header + tensor["data_offsets"][0].get<std::uint64_t>();
        for (std::int64_t i = 0; i < count; ++i, from += sizeof(float)) {
            float value = 0;
            std::memcpy(&value, from, sizeof value);
            const int exponent = value == 0 ? -100 : std::ilogb(value);
            if (exponent >= -48) ++bins[static_cast<std::size_t>(std::min(exponent, 17) + 48)];
        }
    }
    return out;
}

constexpr const char* kinds[] = {"gradients", "activations", "weights", "updates"};

TEST_F(Microscope, DumpsTheTensorsThatItsHistogramsAreOf) {
    train({"--set", "precision.preset=fp32"});
    const std::string folder = (home_ / "dump").string();
    for (const char* kind : kinds) {
        SCOPED_TRACE(kind);
        const json kept = json_of({"1", "10", "--kind", kind});
        // The step is computed again and gives the same values.
        EXPECT_EQ(json_of({"1", "10", "--kind", kind, "--dump", folder}), kept);
        const Dumped dumped = read_dump(home_ / "dump" / (std::string(kind) + ".safetensors"));
        EXPECT_EQ(dumped.values.size(), kept["layers"].size());
        for (const auto& layer : kept["layers"]) {
            const std::string name = layer["layer"];
            ASSERT_TRUE(dumped.bins.contains(name)) << name;
            EXPECT_EQ(dumped.values.at(name), layer["values"]) << name;
            EXPECT_EQ(json(dumped.bins.at(name)), layer["bins"]) << name;
        }
    }
}

TEST_F(Microscope, DumpsAStepOfARunThatKeptNoHistograms) {
    train({"--set", "instruments.histograms_every=0", "--set", "precision.preset=amp-fp16"});
    const json own = json_of({"1", "7", "--dump", (home_ / "own").string()});
    EXPECT_EQ(own["step"], 7);
    EXPECT_EQ(own["shadow"], false);
    EXPECT_EQ(own["loss_scale"], steps_[6]["loss_scale"]);
    const json shadow = json_of({"1", "7", "--shadow", "--dump", (home_ / "shadow").string()});
    EXPECT_EQ(shadow["shadow"], true);
    EXPECT_EQ(shadow["loss_scale"], 1);
    for (const char* kind : kinds) {
        const std::string file = std::string(kind) + ".safetensors";
        EXPECT_EQ(read_dump(home_ / "own" / file).values, read_dump(home_ / "shadow" / file).values)
            << kind;
    }
    run({"1", "40", "--dump", (home_ / "late").string()}, 3);
    EXPECT_FALSE(std::filesystem::exists(home_ / "late"));
}

TEST_F(Microscope, ShowsAKeptStepLayerByLayer) {
    train();
    const json found = json_of({"1", "10"});
    EXPECT_EQ(found["step"], 10);
    EXPECT_EQ(found["shadow"], false);
    EXPECT_EQ(found["kind"], "gradients");
    EXPECT_EQ(found["loss_scale"], steps_[9]["loss_scale"]);
    std::int64_t sum = 0;
    for (const auto& each : found["layers"]) {
        std::int64_t values = each["zero"].get<std::int64_t>() + each["below"].get<std::int64_t>() +
                              each["infinite"].get<std::int64_t>() +
                              each["nan"].get<std::int64_t>();
        EXPECT_EQ(each["bins"].size(), 66u);
        for (const auto& bin : each["bins"]) values += bin.get<std::int64_t>();
        EXPECT_EQ(each["values"], values);
        sum += values;
    }
    EXPECT_EQ(found["total"]["values"], sum);
    // The shares are those that the record has for the same gradients.
    EXPECT_NEAR(found["total"]["fp16"]["to_zero"].get<double>(),
                steps_[9]["f16_zero_share"].get<double>(), 1e-3);
    for (const char* kind : {"activations", "weights", "updates"}) {
        const json other = json_of({"1", "10", "--kind", kind});
        EXPECT_EQ(other["kind"], kind);
        EXPECT_THAT(layers_of(other), Contains(layers_of(found).front()));
        EXPECT_FALSE(other.contains("scale_floor"));
    }
}

TEST_F(Microscope, NamesTheNearestStepWhereOneWasNotKept) {
    train();
    EXPECT_EQ(json_of({"1", "7"})["step"], 5);
    EXPECT_EQ(json_of({"1", "999"})["step"], 20);
    const std::string table = run({"1", "8"});
    EXPECT_THAT(table, HasSubstr("step 10, gradients at loss scale"));
    EXPECT_THAT(table, HasSubstr("step 8 was not kept, this is the nearest"));
    EXPECT_THAT(table, HasSubstr("all layers"));
    EXPECT_THAT(table, HasSubstr("loss scale: smallest"));
}

TEST_F(Microscope, SlidesTheGradientsToAnotherScale) {
    train({"--set", "precision.preset=fp32"});
    const json here = json_of({"1", "10"});
    const json far = json_of({"1", "10", "--scale", "1048576"});
    EXPECT_EQ(here["scale"], 1);
    EXPECT_EQ(far["scale"], 1048576);
    EXPECT_NEAR(here["total"]["fp16"]["headroom_up"].get<double>() -
                    far["total"]["fp16"]["headroom_up"].get<double>(),
                20, 1e-9);
    EXPECT_EQ(here["scale_floor"], far["scale_floor"]);
    EXPECT_EQ(here["scale_floor"], steps_[9]["scale_floor"]);
    // Steps without histograms have no floor.
    EXPECT_FALSE(steps_[8].contains("scale_floor"));
}

TEST_F(Microscope, ComputesTheTruePictureAnewInFp32) {
    train();
    const json shadow = json_of({"1", "7", "--shadow"});
    EXPECT_EQ(shadow["step"], 7);
    EXPECT_EQ(shadow["shadow"], true);
    EXPECT_EQ(shadow["loss_scale"], 1) << "what the gradients were multiplied by";
    EXPECT_EQ(shadow["scale"], steps_[6]["loss_scale"]) << "shown at the scale of the step";
    EXPECT_NE(shadow["scale"], 1);
    for (const auto& each : shadow["layers"]) EXPECT_EQ(each["type"], "fp32");
    EXPECT_THAT(layers_of(shadow), layers_of(json_of({"1", "10"})));
    EXPECT_TRUE(shadow["scale_floor"].is_number());
}

TEST_F(Microscope, RefusesWhatItCannotShow) {
    train({"--set", "instruments.histograms_every=0"});
    EXPECT_FALSE(std::filesystem::exists(home_ / "halftone/runs/1/histograms"));
    run({"1", "10"}, 2);
    EXPECT_THAT(errors_, HasSubstr("the run has no histograms"));
    run({"1", "10", "--kind", "biases"}, 2);
    EXPECT_THAT(errors_, HasSubstr("use gradients, activations, weights or updates"));
    run({"1", "10", "--kind", "weights", "--scale", "2"}, 2);
    EXPECT_THAT(errors_, HasSubstr("only gradients are multiplied"));
    for (const char* scale : {"0", "-1", "nan", "inf", "2x"}) {
        run({"1", "10", "--scale", scale}, 2);
        EXPECT_THAT(errors_, HasSubstr("use a number above 0")) << scale;
    }
    run({"1", "0"}, 2);
    run({"nothing", "1"}, 2);
}

}  // namespace
}  // namespace app
