#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
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

/// The elements of a file's tensors, each of which holds those of many tensors in a row.
class Elements {
public:
    explicit Elements(const std::filesystem::path& file) : joined_(peer::read_tensors(file)) {}

    RawTensor next(const std::string& from, const std::vector<std::int64_t>& shape) {
        const RawTensor& all = joined_.at(from);
        const std::int64_t item =
            all.bytes.empty() ? 1 : static_cast<std::int64_t>(all.bytes.size()) / all.shape.at(0);
        const auto count = std::accumulate(shape.begin(), shape.end(), item, std::multiplies<>());
        std::int64_t& at = taken_[from];
        if (at + count > static_cast<std::int64_t>(all.bytes.size()))
            throw std::runtime_error("too few elements of " + from);
        const auto begin = all.bytes.begin() + at;
        at += count;
        return {all.dtype, shape, {begin, begin + count}};
    }
    bool all_taken() const {
        return std::all_of(joined_.begin(), joined_.end(), [&](const auto& entry) {
            const auto taken = taken_.find(entry.first);
            return taken != taken_.end() &&
                   taken->second == static_cast<std::int64_t>(entry.second.bytes.size());
        });
    }

private:
    TensorMap joined_;
    std::map<std::string, std::int64_t> taken_;  // bytes
};

GoldenCase read_case(const std::string& line, Elements& elements) {
    GoldenCase one{json::parse(line), {}, {}, {}};
    const json tensors = one.request.at("tensors");
    one.request.erase("tensors");
    for (const auto& [name, type] : tensors.items()) {
        std::istringstream words(type.get<std::string>());
        std::string dtype;
        words >> dtype;
        const std::vector<std::int64_t> shape(std::istream_iterator<std::int64_t>(words), {});
        const bool expected = name.starts_with("expect/");
        const std::string result = expected ? name.substr(7) : name;
        (expected ? one.expect : one.inputs).emplace(result, elements.next(dtype, shape));
        if (expected && dtype.starts_with("F"))
            one.allowed.emplace(result, elements.next("allowed", shape));
    }
    return one;
}

void add_cases(const std::filesystem::path& lines_file, std::vector<GoldenCase>& cases) {
    std::filesystem::path tensors_file = lines_file;  // NAME.jsonl.xz
    tensors_file.replace_extension().replace_extension(".safetensors.xz");
    Elements elements(tensors_file);
    std::istringstream lines(peer::unpacked(lines_file));
    for (std::string line; std::getline(lines, line);) cases.push_back(read_case(line, elements));
    EXPECT_TRUE(elements.all_taken()) << tensors_file;
}

/// The files with lines of cases, in order.
std::vector<std::filesystem::path> line_files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(HALFTONE_GOLDEN_DIR)) {
        if (entry.path().string().ends_with(".jsonl.xz")) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<GoldenCase> read_cases() {
    std::vector<GoldenCase> cases;
    for (const auto& file : line_files()) add_cases(file, cases);
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
    for (const auto& file : line_files()) {
        std::istringstream lines(peer::unpacked(file));
        for (std::string line; std::getline(lines, line);)
            covered.insert(json::parse(line)["op"].get<std::string>());
    }
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
