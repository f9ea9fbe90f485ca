#include "network/to_svg.h"

#include <algorithm>
#include <map>

#include "engine/base/plain_text.h"
#include "network/arguments.h"
#include "network/module_path.h"

namespace engine::network {
namespace {

// Pixels.
constexpr double row_height = 26, box_height = 18, title_height = 20, frame_margin = 7, lane_width = 12, border = 12, character = 6.6;

/// A box: a layer, a use of a block, or an input.
struct DrawnBox {
    std::string text{}, shape{};
    std::vector<int> inputs{};  ///< boxes
    double centre = 0;          ///< from the top
    bool is_input = false;
    std::string type{};  ///< of its result; empty: not asked for, or none
};

/// A container or a block that is drawn with its layers.
struct DrawnFrame {
    std::string text{};
    double top = 0, bottom = 0;
    int height = 1;  ///< itself and frames inside
};

/// Finds bodies that come one after another and are equal, as the runs of a repeat: each takes the
/// result of the one before, and nothing else of one is taken later.
class EqualRuns {
public:
    EqualRuns(const NetworkGraph& graph, const std::vector<std::string>& types) : graph_(graph), types_(types), last_uses_(graph.values.size(), -1) {
        for (std::size_t i = 0; i < graph.nodes.size(); ++i)
            for (const int input : graph.nodes[i].inputs) last_uses_[at(input)] = static_cast<int>(i);
        for (const int output : graph.outputs) last_uses_[at(output)] = static_cast<int>(graph.nodes.size());
    }

    /// The places of the bodies that are drawn as one with this one, itself first.
    std::vector<std::size_t> find(std::size_t first) const {
        std::vector<std::size_t> runs{first};
        const auto& bodies = graph_.bodies;
        for (std::size_t i = first + 1; i < bodies.size() && bodies[i].first <= bodies[runs.back()].end; ++i) {
            if (bodies[i].first < bodies[runs.back()].end || bodies[i].first == bodies[i].end) continue;  // inside it, or without layers
            if (!comes_again(bodies[runs.back()], bodies[i])) break;
            runs.push_back(i);
        }
        return runs;
    }

private:
    static std::size_t at(int place) { return static_cast<std::size_t>(place); }
    static bool holds(const GraphBody& body, int node) { return node >= body.first && node < body.end; }

    bool comes_again(const GraphBody& body, const GraphBody& next) const {
        if (body.place != next.place || body.block != next.block || body.again || next.again) return false;
        if (next.first != body.end || next.end - next.first != body.end - body.first || body.inputs.size() != next.inputs.size()) return false;
        if (next.inputs.empty() || next.inputs.front() != body.output || last_uses_[at(body.output)] >= next.end) return false;
        if (!std::equal(body.inputs.begin() + 1, body.inputs.end(), next.inputs.begin() + 1)) return false;
        if (!have_equal_sizes(body.inputs.front(), next.inputs.front())) return false;
        for (int i = 0; i < body.end - body.first; ++i)
            if (!are_equal_nodes(body, next, i)) return false;
        return true;
    }

    bool are_equal_nodes(const GraphBody& body, const GraphBody& next, int index) const {
        const GraphNode &a = graph_.nodes[at(body.first + index)], &b = graph_.nodes[at(next.first + index)];
        const auto texts = [](const GraphNode& node) {
            std::vector<std::string> out;
            for (const auto& each : argument_texts(*node.kind, node.arguments)) out.push_back(each.text);
            return out;
        };
        const auto sizes = [this](int x, int y) { return have_equal_sizes(x, y); };
        // Values of a body are those of the next one in the same order.
        const auto same_input = [&](int x, int y) {
            if (holds(body, graph_.values[at(x)].node)) return y - x == next_value(next) - next_value(body);
            const auto outer = std::ranges::find(body.inputs, x);
            return outer == body.inputs.end() ? x == y : next.inputs[at(static_cast<int>(outer - body.inputs.begin()))] == y;
        };
        if (a.kind != b.kind || a.place != b.place || texts(a) != texts(b) || type(body.first + index) != type(next.first + index)) return false;
        if (!std::ranges::equal(a.outputs, b.outputs, sizes) || !std::ranges::equal(a.inputs, b.inputs, same_input)) return false;
        return std::ranges::all_of(a.outputs, [&](int value) { return value == body.output || last_uses_[at(value)] < body.end; });
    }

    bool have_equal_sizes(int x, int y) const { return graph_.values[at(x)].type.sizes == graph_.values[at(y)].type.sizes; }
    /// The first value that the body makes.
    int next_value(const GraphBody& body) const { return graph_.nodes[at(body.first)].outputs.front(); }
    std::string_view type(int node) const { return at(node) < types_.size() ? std::string_view(types_[at(node)]) : std::string_view(); }

    const NetworkGraph& graph_;
    const std::vector<std::string>& types_;
    std::vector<int> last_uses_;  // the last node that takes each value
};

/// Boxes and frames of a graph, before they have places.
class Layout {
public:
    Layout(const NetworkGraph& graph, const NetworkDrawing& drawing) : graph_(graph), types_(drawing.types), runs_(graph, drawing.types), producers_(graph.values.size(), -1) {
        for (const int input : graph.inputs) {
            const GraphValue& value = graph.values[static_cast<std::size_t>(input)];
            add_box({.text = value.name, .shape = to_string(value.type.sizes), .is_input = true}, {input});
        }
        int next = 0;
        add_nodes(next, static_cast<int>(graph.nodes.size()), 0, {}, drawing.depth);
    }

    std::vector<DrawnBox> boxes{};
    std::vector<DrawnFrame> frames{};
    double bottom = border;

private:
    int producer(int value) const { return producers_[static_cast<std::size_t>(value)]; }

    void add_box(DrawnBox box, const std::vector<int>& gives) {
        box.centre = bottom + row_height / 2;
        bottom += row_height;
        for (const int value : gives) producers_[static_cast<std::size_t>(value)] = static_cast<int>(boxes.size());
        boxes.push_back(std::move(box));
    }

    /// Nodes from `next` to `end` of the module `around`, with the bodies from `body` on. Returns the height of the highest frame inside.
    int add_nodes(int& next, int end, std::size_t body, const std::string& around, int depth) {
        int height = 0;
        while (next < end) {
            while (body < graph_.bodies.size() && (graph_.bodies[body].end <= next || graph_.bodies[body].first == graph_.bodies[body].end)) ++body;
            const bool in_body = body < graph_.bodies.size() && graph_.bodies[body].first <= next;
            if (!in_body) {
                const GraphNode& node = graph_.nodes[static_cast<std::size_t>(next)];
                const std::string label = node.labelled && (node.own_module || node.kind->bare) ? label_in(around, node.module) + ": " : "";
                add_nodes_as_box(label + node.kind->name, next, next + 1);
                ++next;
                continue;
            }
            const GraphBody& inner = graph_.bodies[body];
            const std::vector<std::size_t> runs = runs_.find(body);
            std::string text = title(inner, around, runs.size() > 1);
            if (runs.size() > 1) text += " \u00d7" + std::to_string(runs.size());
            if (!inner.block.empty() && depth == 0) {
                add_nodes_as_box(text, inner.first, inner.end);
                next = inner.end;
            } else {
                const std::size_t frame = frames.size();
                frames.push_back({.text = text, .top = bottom});
                bottom += title_height;
                const int inside = add_nodes(next, inner.end, body + 1, inner.module, inner.block.empty() ? depth : depth - 1);
                frames[frame].bottom = bottom += frame_margin - (row_height - box_height) / 2;
                frames[frame].height = inside + 1;
                bottom += frame_margin / 2;
                height = std::max(height, inside + 1);
            }
            const GraphBody& last = graph_.bodies[runs.back()];
            producers_[static_cast<std::size_t>(last.output)] = producer(inner.output);
            next = last.end;
            body = runs.back() + 1;
        }
        return height;
    }

    /// A module's name as the body around it has it: "stage1.0".
    static std::string label_in(const std::string& around, const std::string& module) { return lies_in(module, around) ? below(module, around) : last_part(module); }

    /// `several`: the runs of a repeat as one.
    static std::string title(const GraphBody& body, const std::string& around, bool several) {
        std::string label = label_in(around, body.module);
        if (const std::size_t dot = label.rfind('.'); several && dot != label.npos && std::all_of(label.begin() + static_cast<std::ptrdiff_t>(dot) + 1, label.end(), is_digit)) label.resize(dot);
        std::string text = body.block.empty() ? label : body.block;
        const bool counted = std::ranges::all_of(label, is_digit);
        if (!body.block.empty() && !counted) text = label + ": " + text;
        return body.again ? text + " (again)" : text;
    }

    void add_nodes_as_box(std::string text, int first, int end) {
        DrawnBox box{.text = std::move(text)};
        std::vector<int> gives;
        for (int i = first; i < end; ++i) {
            const GraphNode& node = graph_.nodes[static_cast<std::size_t>(i)];
            for (const int input : node.inputs) {
                const int made_by = graph_.values[static_cast<std::size_t>(input)].node;
                if (made_by >= first) continue;
                const int from = producer(input);
                if (std::ranges::find(box.inputs, from) == box.inputs.end()) box.inputs.push_back(from);
            }
            gives.insert(gives.end(), node.outputs.begin(), node.outputs.end());
            box.shape = to_string(graph_.values[static_cast<std::size_t>(node.outputs.front())].type.sizes);
            // A layer without numbers of its own passes on those that it takes.
            if (const std::string type = last_type(i); !type.empty()) box.type = type;
        }
        if (!box.type.empty()) box.shape += " " + box.type;
        add_box(std::move(box), gives);
    }

    /// The type of a node's last operation: "f32" of "f16, f32".
    std::string last_type(int node) const {
        const auto index = static_cast<std::size_t>(node);
        if (index >= types_.size()) return {};
        const std::size_t comma = types_[index].rfind(' ');
        return comma == std::string::npos ? types_[index] : types_[index].substr(comma + 1);
    }

    const NetworkGraph& graph_;
    const std::vector<std::string>& types_;
    EqualRuns runs_;
    std::vector<int> producers_;  // boxes, by value
};

/// A value that a box behind the next one takes: it runs beside the boxes.
struct Rail {
    int from = 0;
    std::vector<int> to{};
    int lane = 0;
};

std::vector<Rail> make_rails(const std::vector<DrawnBox>& boxes) {
    std::map<int, Rail> by_box;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        for (const int from : boxes[i].inputs) {
            if (from + 1 == static_cast<int>(i)) continue;
            Rail& rail = by_box[from];
            rail.from = from;
            rail.to.push_back(static_cast<int>(i));
        }
    }
    std::vector<Rail> rails;
    std::vector<int> lanes;  // the box up to which each is taken
    for (auto& each : by_box) {
        Rail& rail = each.second;
        const auto free = std::ranges::find_if(lanes, [&](int end) { return end <= rail.from; });
        rail.lane = static_cast<int>(free - lanes.begin());
        if (free == lanes.end()) lanes.push_back(0);
        lanes[static_cast<std::size_t>(rail.lane)] = rail.to.back();
        rails.push_back(std::move(rail));
    }
    return rails;
}

/// Characters, not bytes.
double text_width(std::string_view text) {
    return character * static_cast<double>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// As the window draws curves of this precision on light paper.
const char* type_colour(std::string_view type) {
    return type == "f16" ? "#bf5600" : type == "bf16" ? "#0b7a5b" : type == "f32" ? "#2b6cb0" : "#5b6572";
}

class Picture {
public:
    Picture(const NetworkGraph& graph, const NetworkDrawing& drawing) : drawing_(drawing), layout_(graph, drawing), rails_(make_rails(layout_.boxes)) {
        for (const DrawnBox& box : layout_.boxes) {
            box_width_ = std::max(box_width_, text_width(box.text) + 16);
            shape_width_ = std::max(shape_width_, text_width(box.shape));
        }
        for (const DrawnFrame& frame : layout_.frames) {
            height_ = std::max(height_, frame.height);
            box_width_ = std::max(box_width_, 2 * text_width(frame.text) + 16);  // its title is left of the line
        }
        middle_ = border + shape_width_ + 8 + frame_margin * height_ + box_width_ / 2;
    }

    std::string run() {
        draw_frames();
        draw_lines();
        draw_boxes();
        int lanes = 0;
        for (const Rail& rail : rails_) lanes = std::max(lanes, rail.lane + 1);
        const double width = right_edge() + lane_width * (lanes + 1) + border, height = layout_.bottom + row_height + border;
        const bool lying = drawing_.lying;
        const std::string size = number(lying ? height : width), other = number(lying ? width : height);
        std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" height=\"" + other + "\" viewBox=\"0 0 " + size + ' ' + other + "\">\n";
        out += "<rect width=\"" + size + "\" height=\"" + other + "\" fill=\"white\"/>\n";
        out += "<g font-family=\"sans-serif\" font-size=\"11\" stroke-width=\"1\"";
        // A quarter turn to the left: the first layer comes to stand at the left.
        if (lying) out += " transform=\"translate(0 " + number(width) + ") rotate(-90)\"";
        return out + ">\n" + out_ + "</g>\n</svg>\n";
    }

private:
    static std::string number(double value) { return shortest_text(static_cast<float>(value)); }
    double centre(int box) const { return layout_.boxes[static_cast<std::size_t>(box)].centre; }
    double right_edge() const { return middle_ + box_width_ / 2 + frame_margin * height_; }

    void add_line(double x1, double y1, double x2, double y2) {
        out_ += "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) + "\" stroke=\"black\"/>\n";
    }

    void add_text(double x, double y, const std::string& anchor, const std::string& colour, const std::string& text) {
        out_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\" fill=\"" + colour + "\">" + html_text(text) + "</text>\n";
    }

    void draw_frames() {
        for (const DrawnFrame& frame : layout_.frames) {
            const double x = middle_ - box_width_ / 2 - frame_margin * frame.height;
            out_ += "<rect class=\"frame\" x=\"" + number(x) + "\" y=\"" + number(frame.top) + "\" width=\"" + number(2 * (middle_ - x)) + "\" height=\"" +
                    number(frame.bottom - frame.top) + "\" rx=\"5\" fill=\"#f0f0f0\" stroke=\"#909090\"/>\n";
            add_text(x + 6, frame.top + 14, "start", "#404040", frame.text);
        }
    }

    void draw_lines() {
        const auto& boxes = layout_.boxes;
        for (std::size_t i = 1; i < boxes.size(); ++i)
            if (std::ranges::find(boxes[i].inputs, static_cast<int>(i) - 1) != boxes[i].inputs.end())
                add_line(middle_, centre(static_cast<int>(i) - 1), middle_, centre(static_cast<int>(i)));
        for (const Rail& rail : rails_) {
            const double x = right_edge() + lane_width * (rail.lane + 1);
            const double from = centre(rail.from) + 4;
            add_line(middle_, from, x, from);
            add_line(x, from, x, centre(rail.to.back()) - 4);
            for (const int to : rail.to) {
                const double y = centre(to) - 4, edge = middle_ + box_width_ / 2;
                add_line(x, y, edge, y);
                out_ += "<polygon points=\"" + number(edge) + ',' + number(y) + ' ' + number(edge + 6) + ',' + number(y - 3) + ' ' + number(edge + 6) + ',' +
                        number(y + 3) + "\" fill=\"black\"/>\n";
            }
        }
        const int last = static_cast<int>(boxes.size()) - 1;
        add_line(middle_, centre(last), middle_, centre(last) + row_height);
    }

    void draw_boxes() {
        for (std::size_t i = 0; i < layout_.boxes.size(); ++i) {
            const DrawnBox& box = layout_.boxes[i];
            const double y = centre(static_cast<int>(i));
            out_ += "<rect class=\"box\" x=\"" + number(middle_ - box_width_ / 2) + "\" y=\"" + number(y - box_height / 2) + "\" width=\"" + number(box_width_) +
                    "\" height=\"" + number(box_height) + "\" rx=\"" + (box.is_input ? "9" : "2") + "\" fill=\"white\" stroke=\"black\"/>\n";
            if (!box.type.empty())
                out_ += "<rect class=\"type\" x=\"" + number(middle_ - box_width_ / 2) + "\" y=\"" + number(y - box_height / 2) + "\" width=\"4\" height=\"" +
                        number(box_height) + "\" fill=\"" + type_colour(box.type) + "\"/>\n";
            add_text(middle_, y + 4, "middle", "black", box.text);
            add_text(border + shape_width_, y + 4, "end", "#606060", box.shape);
        }
    }

    const NetworkDrawing& drawing_;
    Layout layout_;
    std::vector<Rail> rails_;
    std::string out_;
    double box_width_ = 60, shape_width_ = 0, middle_ = 0;
    int height_ = 0;  // frames around each other
};

}  // namespace

std::string to_svg(const NetworkGraph& graph, const NetworkDrawing& drawing) { return Picture(graph, drawing).run(); }

}  // namespace engine::network
