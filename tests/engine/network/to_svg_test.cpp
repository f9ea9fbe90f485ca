#include "network/to_svg.h"

#include <gtest/gtest.h>

#include <regex>

#include "checked.h"

namespace engine::network {
namespace {

struct Rectangle {
    double x, y, width, height;
};

std::vector<Rectangle> rectangles(const std::string& svg, const std::string& kind) {
    const std::regex form("<rect class=\"" + kind + "\" x=\"([^\"]*)\" y=\"([^\"]*)\" width=\"([^\"]*)\" height=\"([^\"]*)\"");
    std::vector<Rectangle> found;
    for (std::sregex_iterator each(svg.begin(), svg.end(), form), end; each != end; ++each)
        found.push_back({std::stod((*each)[1]), std::stod((*each)[2]), std::stod((*each)[3]), std::stod((*each)[4])});
    return found;
}

bool are_apart(const Rectangle& a, const Rectangle& b) {
    return a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
}

bool holds(const Rectangle& outer, const Rectangle& inner) {
    return outer.x < inner.x && outer.x + outer.width > inner.x + inner.width && outer.y < inner.y && outer.y + outer.height > inner.y + inner.height;
}

NetworkData usual_data(const std::string& name, const std::string& text) {
    NetworkData data = usual_network_data(text);
    if (name == "clicks") data.outputs = 1;
    return data;
}

TEST(ToSvg, BoxesDoNotOverlapAndFramesHoldThem) {
    for (const std::string& name : network_templates()) {
        const std::string text = network_template(name);
        for (const int depth : {0, 1, 3}) {
            const std::string svg = network_to_svg(text, usual_data(name, text), {.depth = depth});
            const auto boxes = rectangles(svg, "box"), frames = rectangles(svg, "frame");
            ASSERT_GE(boxes.size(), 4u) << name;
            for (std::size_t i = 1; i < boxes.size(); ++i) EXPECT_TRUE(are_apart(boxes[i - 1], boxes[i])) << name << ' ' << depth << ' ' << i;
            for (const Rectangle& frame : frames)
                for (const Rectangle& box : boxes) EXPECT_TRUE(are_apart(frame, box) || holds(frame, box)) << name << ' ' << depth;
            for (std::size_t i = 0; i < frames.size(); ++i)
                for (std::size_t j = 0; j < i; ++j) EXPECT_TRUE(are_apart(frames[i], frames[j]) || holds(frames[j], frames[i])) << name << ' ' << depth;
        }
    }
}

TEST(ToSvg, DepthPutsBlocksInTheirPlace) {
    const std::string text = network_template("resnet18");
    const NetworkData data = usual_network_data(text);
    // The image, four layers, eight blocks of which the first two are equal, pool, Flatten and Linear; frames of four stages.
    EXPECT_EQ(rectangles(network_to_svg(text, data), "box").size(), 1u + 4 + 7 + 3);
    EXPECT_EQ(rectangles(network_to_svg(text, data), "frame").size(), 4u);
    // Seven layers a block, and two more in three of them, each in a frame.
    const std::string open = network_to_svg(text, data, {.depth = 1});
    EXPECT_EQ(rectangles(open, "box").size(), 1u + 4 + 7 * 7 + 3 * 2 + 3);
    EXPECT_EQ(rectangles(open, "frame").size(), 4u + 7 + 3);
}

TEST(ToSvg, EqualRunsOfARepeatAreDrawnOnce) {
    const auto drawn = [](const std::string& body) { return network_to_svg("block Wide(n):\n  Linear(n)\n  ReLU\nnetwork(features):\n" + body + "  Linear(outputs)\n", small_data(), {.depth = 1}); };
    const std::string equal = drawn("  Linear(8)\n  repeat 5:\n    Wide(8)\n");
    EXPECT_NE(equal.find("Wide \u00d75</text>"), equal.npos);
    EXPECT_EQ(rectangles(equal, "frame").size(), 1u);
    EXPECT_EQ(rectangles(equal, "box").size(), 1u + 1 + 2 + 1);
    // The first takes twenty features.
    const std::string first = drawn("  repeat 5:\n    Wide(8)\n");
    EXPECT_NE(first.find("Wide \u00d74</text>"), first.npos);
    EXPECT_EQ(rectangles(first, "frame").size(), 2u);
    const std::string growing = drawn("  repeat 3 as i:\n    Wide(8 + i)\n");
    EXPECT_EQ(rectangles(growing, "frame").size(), 3u);
    // A run whose result is taken later is the last one of those that are drawn as one.
    const std::string taken = drawn("  Linear(8)\n  repeat 3 as i:\n    run{i}: Wide(8)\n  Add from run1, run2\n");
    EXPECT_NE(taken.find("run0: Wide \u00d72</text>"), taken.npos);
    EXPECT_EQ(rectangles(taken, "frame").size(), 2u);
}

/// "stage.0" is a name with a dot and no container.
TEST(ToSvg, LabelsAreWrittenWhole) {
    const std::string text = "block Wide(n):\n  Linear(n)\n  ReLU\nnetwork(features):\n  repeat 3 as i:\n    stage.{i}: Wide(8 + i)\n  first:\n    Wide(9)\n    side.a: Linear(9)\n"
                             "  Linear(8)\n  repeat 2 as i:\n    last.{i}: Wide(8)\n  Linear(outputs)\n";
    for (const int depth : {0, 1}) {
        const std::string svg = network_to_svg(text, small_data(), {.depth = depth});
        for (const char* label : {">stage.0: Wide</text>", ">stage.2: Wide</text>", ">Wide</text>", ">side.a: Linear</text>", ">last: Wide \u00d72</text>"})
            EXPECT_NE(svg.find(label), svg.npos) << label << depth;
    }
}

TEST(ToSvg, TextsAreTextAndEscaped) {
    const std::string svg = network_to_svg("network(features):\n  \"a<b&c\": Linear(outputs)\n", small_data());
    EXPECT_NE(svg.find(">a&lt;b&amp;c: Linear</text>"), svg.npos);
    EXPECT_NE(svg.find(">N x 10</text>"), svg.npos);
    EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

/// A value that the next layer takes is a line down; one that a later layer takes has an arrow.
TEST(ToSvg, ValuesOfLaterLayersRunBeside) {
    const auto arrows = [](const std::string& body) {
        const std::string svg = network_to_svg("network(features):\n" + body, small_data());
        std::size_t count = 0;
        for (std::size_t at = svg.find("<polygon"); at != svg.npos; at = svg.find("<polygon", at + 1)) ++count;
        return count;
    };
    EXPECT_EQ(arrows("  Linear(20)\n  Linear(outputs)\n"), 0u);
    EXPECT_EQ(arrows("  Linear(20)\n  ReLU\n  Add from in, above\n  Linear(outputs)\n"), 1u);
}

}  // namespace
}  // namespace engine::network
