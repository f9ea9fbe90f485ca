#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "engine/ops/op_script.h"
#include "engine/settings/catalog.h"
#include "temp_folder.h"
#include "tensor_file.h"

// Compares single operations with PyTorch's results, without Python: cases, results and allowed
// differences come from make_golden.py.

namespace {

using nlohmann::json;
using peer::RawTensor;
using peer::TensorMap;

struct GoldenCase {
    json request;       // a line of cases.jsonl
    TensorMap inputs;   // in the form of `halftone op`
    TensorMap expect;   // by result
    TensorMap allowed;  // by result, elementwise; none for exact results
};

/// The tensors whose names begin with `prefix`, without it.
TensorMap part(const TensorMap& all, const std::string& prefix) {
    TensorMap found;
    for (auto it = all.lower_bound(prefix); it != all.end() && it->first.starts_with(prefix);
         ++it) {
        found.emplace(it->first.substr(prefix.size()), it->second);
    }
    return found;
}

void add_cases(const std::filesystem::path& lines_file, std::vector<GoldenCase>& cases) {
    std::filesystem::path tensors_file = lines_file;  // NAME.jsonl.xz
    tensors_file.replace_extension().replace_extension(".safetensors.xz");
    const TensorMap all = peer::read_tensors(tensors_file);
    std::istringstream lines(peer::unpacked(lines_file));
    std::size_t index = 0;
    for (std::string line; std::getline(lines, line); ++index) {
        const std::string number = std::to_string(index) + "/";
        GoldenCase one{
            json::parse(line), {}, part(all, number + "expect/"), part(all, number + "allowed/")};
        for (auto& [name, tensor] : part(all, number)) {
            if (!name.starts_with("expect/") && !name.starts_with("allowed/"))
                one.inputs.emplace(name, tensor);
        }
        cases.push_back(std::move(one));
    }
}

std::vector<GoldenCase> read_cases() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(HALFTONE_GOLDEN_DIR)) {
        if (entry.path().string().ends_with(".jsonl.xz")) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::vector<GoldenCase> cases;
    for (const auto& file : files) add_cases(file, cases);
    return cases;
}

class Folder : public test_support::TempFolder {
public:
    std::string file(const std::string& kind, std::size_t i) const {
        return (*this / (kind + std::to_string(i) + ".safetensors")).string();
    }
};

/// How a result differs from its expectation; empty if it does not.
std::string difference(const RawTensor& got, const std::string& dtype, const RawTensor& expect,
                       const RawTensor* allowed) {
    if (got.dtype != dtype) return "has dtype " + got.dtype + ", not " + dtype;
    if (got.shape != expect.shape) return "has another shape";
    // Integers beyond 2^53 are not told apart as doubles.
    if (allowed == nullptr && got.dtype == "I64" && got.bytes != expect.bytes)
        return " has other integers";
    const std::vector<double> g = got.values();
    const std::vector<double> e = expect.values();
    const std::vector<double> a =
        allowed != nullptr ? allowed->values() : std::vector<double>(e.size(), 0.0);
    for (std::size_t i = 0; i < e.size(); ++i) {
        const bool same = g[i] == e[i] || (std::isnan(g[i]) && std::isnan(e[i]));
        if (same || std::abs(g[i] - e[i]) <= a[i]) continue;
        std::ostringstream text;
        text << "[" << i << "] is " << g[i] << ", not " << e[i] << " within " << a[i];
        return text.str();
    }
    return {};
}

std::vector<json> run(const std::vector<GoldenCase>& cases, const Folder& folder) {
    std::stringstream script;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        peer::write_tensors(folder.file("case", i), cases[i].inputs);
        json line = cases[i].request;
        line.erase("results");
        line.erase("refused");
        line["in"] = folder.file("case", i);
        line["out"] = folder.file("result", i);
        const char* device = std::getenv("HALFTONE_TEST_DEVICE");
        line["device"] = device ? device : "cpu";
        script << line.dump() << '\n';
    }
    std::stringstream results;
    EXPECT_EQ(engine::run_op_script(script, results), 0);
    std::vector<json> answers;
    for (std::string line; std::getline(results, line);) answers.push_back(json::parse(line));
    return answers;
}

void check(const GoldenCase& one, const json& answer, const std::string& result_file) {
    const std::string label = one.request.dump();
    if (one.request.contains("refused")) {
        const std::string error = answer.value("error", "");
        for (const auto& word : one.request["refused"]) {
            EXPECT_NE(error.find(word.get<std::string>()), std::string::npos)
                << label << ": " << word << " is not in: " << error;
        }
        return;
    }
    if (answer.contains("error")) {
        ADD_FAILURE() << label << ": " << answer["error"];
        return;
    }
    const TensorMap results = peer::read_tensors(result_file);
    for (const auto& [name, dtype] : one.request["results"].items()) {
        const auto got = results.find(name);
        if (got == results.end()) {
            ADD_FAILURE() << label << ": no " << name;
            continue;
        }
        const auto allowed = one.allowed.find(name);
        const std::string wrong =
            difference(got->second, dtype, one.expect.at(name),
                       allowed == one.allowed.end() ? nullptr : &allowed->second);
        EXPECT_TRUE(wrong.empty()) << label << ": " << name << wrong;
    }
}

TEST(Golden, EveryCaseAgreesWithPyTorch) {
    const std::vector<GoldenCase> cases = read_cases();
    ASSERT_GE(cases.size(), 300u);
    const Folder folder;
    const std::vector<json> answers = run(cases, folder);
    ASSERT_EQ(answers.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i)
        check(cases[i], answers[i], folder.file("result", i));
}

TEST(Golden, HasCasesForEveryOpThatCanBeCalled) {
    // tests/engine/ops/detection reads the goldens of these, whose inputs are drawn.
    std::set<std::string> covered{
        "anchors",      "balanced_sample", "batched_nms",      "box_decode",
        "box_encode",   "box_iou",         "gather_anchors",   "mask_targets",
        "match_boxes",  "nms",             "roi_align",        "multi_scale_roi_align",
        "select_proposals", "select_detections"};
    for (const GoldenCase& one : read_cases()) covered.insert(one.request["op"].get<std::string>());
    for (const engine::OpSummary& op : engine::ops()) {
        EXPECT_TRUE(covered.contains(op.name) || op.policy == "banned")
            << op.name << ": add it to a family of tests/peer";
    }
}

TEST(Golden, NoticesAnAnswerThatIsOneUnitTooLarge) {
    const RawTensor one{"F16", {1}, {0x00, 0x3c}};                  // 1.0
    const RawTensor above{"F16", {1}, {0x01, 0x3c}};                // 1.0 + 2^-10
    const RawTensor allowed{"F32", {1}, {0x00, 0x00, 0x00, 0x3a}};  // 2^-11
    EXPECT_EQ(difference(one, "F16", one, &allowed), "");
    EXPECT_NE(difference(above, "F16", one, &allowed), "");
    EXPECT_NE(difference(one, "BF16", one, &allowed), "");
    const RawTensor most{"I64", {1}, {0, 0, 0, 0, 0, 0, 32, 0}};   // 2^53
    const RawTensor next{"I64", {1}, {1, 0, 0, 0, 0, 0, 32, 0}};
    EXPECT_EQ(difference(next, "I64", next, nullptr), "");
    EXPECT_NE(difference(next, "I64", most, nullptr), "");
}

}  // namespace
