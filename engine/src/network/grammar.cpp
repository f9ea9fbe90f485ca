#include "network/grammar.h"

#include <algorithm>
#include <cctype>

#include "network/expression_reader.h"

namespace engine::network {
namespace {

std::string_view first_word(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
    return text.substr(0, std::max<std::size_t>(end, 1));
}

std::optional<LineForm> file_form(std::string_view text) {
    const std::string_view word = first_word(text);
    if (word == "option") return LineForm::option;
    if (word == "init") return LineForm::init;
    if (word == "block") return LineForm::block;
    if (word == "network") return LineForm::network;
    return {};
}

LineNode part(const LineNode& node, Part wanted) { return *node.find(wanted); }

/// Reads lines into the syntax tree.
class LineReader {
public:
    explicit LineReader(std::vector<NetworkFault>& faults) : faults_(faults) {}

    NetworkSyntax file(const std::vector<LogicalLine>& lines) {
        const bool cut_short = lines.empty() && !faults_.empty();
        for (const LogicalLine& line : lines) {
            if (has_network_) {
                fault(line, 0, line.text.size(), msg("Nothing may follow the network. Write this line above it."));
                break;
            }
            file_line(line);
        }
        if (!has_network_ && !cut_short) {
            const TextPlace end = lines.empty() ? TextPlace{} : lines.back().place(0, lines.back().text.size());
            faults_.push_back({end, msg("There is no network. End the text with \"network(image):\" and its layers."), {}});
        }
        return std::move(syntax_);
    }

private:
    void fault(const LogicalLine& line, std::size_t offset, std::size_t length, Message text) {
        faults_.push_back({line.place(offset, length), std::move(text), {}});
    }

    // The lines of one level.

    void file_line(const LogicalLine& line) {
        const auto form = file_form(line.text);
        if (!form) {
            syntax_.incomplete = true;
            if (!line.bad)
                fault(line, 0, first_word(line.text).size(),
                      msg("{}: option, init, block or network is needed here.", found_at(line.text, 0)));
            return;
        }
        has_network_ = form == LineForm::network;
        const bool has_body = form == LineForm::block || has_network_;
        if (!has_body && !line.body.empty()) no_head(line);
        const bool read = parse(*form, line);
        if (!read && !has_network_) syntax_.incomplete = true;
        ExpressionReader reader(line, faults_);
        const LineNode root(tree_, 0);
        if (form == LineForm::option && read) {
            option(part(root, Part::option), reader);
        } else if (form == LineForm::init && read) {
            init(part(root, Part::init), reader);
        } else if (form == LineForm::block) {
            BlockLine block{.place = line.place(0, line.text.size())};
            if (read) read_block(part(root, Part::block), reader, block);
            block.body = body(line);
            syntax_.blocks.push_back(std::move(block));
        } else if (has_network_) {
            syntax_.network = line.place(0, line.text.size());
            if (read) read_network(part(root, Part::network), reader);
            syntax_.body = body(line);
        }
    }

    void no_head(const LogicalLine& line) {
        const LogicalLine& first = line.body.front();
        fault(first, 0, first.text.size(), msg("This is indented deeper than line {}, which takes no lines below it.", line.number));
    }

    std::vector<Statement> body(const LogicalLine& head) {
        std::vector<Statement> statements;
        if (head.body.empty() && !head.bad)
            fault(head, head.text.size(), 1, msg("Lines that are indented deeper are missing below this one."));
        statements.reserve(head.body.size());
        for (const LogicalLine& line : head.body) {
            statements.push_back(statement(line));
            if (statements.back().kind == Statement::Kind::output && &line != &head.body.back())
                fault(line, 0, line.text.size(), msg("output is the last line of a body. Move it to the end."));
        }
        return statements;
    }

    Statement statement(const LogicalLine& line) {
        Statement read{.place = line.place(0, line.text.size())};
        if (line.bad) {
            skip_body(line);
            return read;
        }
        ExpressionReader reader(line, faults_);
        const LineNode root(tree_, 0);
        const bool heads = !line.body.empty() || line.text.ends_with(':');
        std::optional<LineFault> head_fault;
        if (heads) {
            head_fault = parse_line(LineForm::head_of_body, line.text, tree_);
            if (!head_fault) {
                read_head(root, reader, read);
                read.body = body(line);
                return read;
            }
        }
        const auto line_fault = parse_line(LineForm::statement, line.text, tree_);
        if (!line_fault) {
            read_statement(root, line, reader, read);
            if (!line.body.empty()) {
                no_head(line);
                skip_body(line);
            }
            return read;
        }
        if (!heads && !parse_line(LineForm::head_of_body, line.text, tree_)) {
            fault(line, line.text.size(), 1, msg("A layer is missing here, or lines below it that are indented deeper."));
            return read;
        }
        add(line, head_fault && head_fault->offset > line_fault->offset ? *head_fault : *line_fault);
        skip_body(line);
        return read;
    }

    /// Reads a body for its faults alone.
    void skip_body(const LogicalLine& line) {
        for (const LogicalLine& below : line.body) statement(below);
    }

    void add(const LogicalLine& line, const LineFault& found) { fault(line, found.offset, found.length, found.text); }

    /// False for a fault, which is added.
    bool parse(LineForm form, const LogicalLine& line) {
        if (line.bad) return false;
        const auto found = parse_line(form, line.text, tree_);
        if (found) add(line, *found);
        return !found;
    }

    // Parts of a line.

    static void read_head(const LineNode& root, ExpressionReader& reader, Statement& out) {
        if (const auto repeat = root.find(Part::repeat)) return read_repeat(root, *repeat, reader, out);
        const LineNode container = part(root, Part::container);
        out.kind = Statement::Kind::container;
        out.label = reader.label(part(part(container, Part::label_colon), Part::label));
        read_tail(container, reader, out);
    }

    static void read_statement(const LineNode& root, const LogicalLine& line, ExpressionReader& reader, Statement& out) {
        if (const auto let = root.find(Part::let)) {
            out.kind = Statement::Kind::let;
            out.name = reader.word(part(*let, Part::name));
            out.value = reader.expression(let->children().back());
        } else if (const auto output = root.find(Part::output)) {
            out.kind = Statement::Kind::output;
            out.from = reader.labels(*output);
        } else if (const auto repeat = root.find(Part::repeat)) {
            read_repeat(root, *repeat, reader, out);
            const LineNode inner = part(root, Part::layer);
            Statement statement{.place = line.place(inner.offset(), line.text.size() - inner.offset())};
            read_layer(inner, reader, statement);
            out.body.push_back(std::move(statement));
        } else {
            read_layer(part(root, Part::layer), reader, out);
        }
    }

    static void read_layer(const LineNode& node, ExpressionReader& reader, Statement& out) {
        out.kind = Statement::Kind::pass;
        if (const auto named = node.find(Part::label_colon)) out.label = reader.label(part(*named, Part::label));
        if (const auto named = node.find(Part::value_name)) out.name = reader.word(*named);
        if (const auto call = node.find(Part::layer_call)) {
            out.kind = Statement::Kind::layer;
            const LineNode name = call->first();
            out.callee = Label{reader.place(name), {{reader.word(name), {}}}};
            out.has_arguments = true;
            out.arguments = reader.arguments(*call);
        } else if (const auto reference = node.find(Part::label)) {
            out.kind = Statement::Kind::layer;
            out.callee = reader.label(*reference);
        }
        read_tail(node, reader, out);
    }

    static void read_tail(const LineNode& node, ExpressionReader& reader, Statement& out) {
        if (const auto from = node.find(Part::from)) out.from = reader.labels(*from);
        if (const auto condition = node.find(Part::condition)) out.condition = reader.expression(condition->first());
    }

    /// `root`: the line, which may give it a label.
    static void read_repeat(const LineNode& root, const LineNode& repeat, ExpressionReader& reader, Statement& out) {
        out.kind = Statement::Kind::repeat;
        if (const auto named = root.find(Part::label_colon)) out.label = reader.label(part(*named, Part::label));
        for (const LineNode& child : repeat.children()) {
            if (child.part() == Part::name) {
                out.each.push_back(reader.word(child));
            } else if (child.part() == Part::each_list) {
                out.takes_apart = true;
                for (const LineNode& each : child.children()) out.each.push_back(reader.word(each));
            } else if (child.part() == Part::range_end) {
                out.last = reader.expression(child.first());
            } else if (child.part() == Part::index_name) {
                out.index = reader.word(child);
            } else {
                out.value = reader.expression(child);
            }
        }
    }

    void option(const LineNode& node, ExpressionReader& reader) {
        OptionLine out{.place = reader.place(node)};
        out.name = reader.word(part(node, Part::name));
        out.default_value = reader.literal(node.children()[1]);
        if (const auto bounds = node.find(Part::bounds)) {
            out.lowest = reader.bound(bounds->children()[0]);
            out.highest = reader.bound(bounds->children()[1]);
        }
        if (const auto choices = node.find(Part::choices))
            for (const LineNode& choice : choices->children()) out.choices.push_back(reader.word(choice));
        if (const auto help = node.find(Part::help)) out.help = reader.expression(help->first()).text;
        syntax_.options.push_back(std::move(out));
    }

    void init(const LineNode& node, ExpressionReader& reader) {
        const auto parts = node.children();
        syntax_.inits.push_back({.place = reader.place(node),
                                 .kind = reader.word(parts[0]),
                                 .parameter = reader.word(parts[1]),
                                 .value = reader.expression(parts[2])});
    }

    static void read_block(const LineNode& node, ExpressionReader& reader, BlockLine& out) {
        out.name = reader.word(part(node, Part::name));
        for (const LineNode& child : node.children()) {
            if (child.part() == Part::parameter) {
                const auto parts = child.children();
                BlockLine::Parameter parameter{reader.word(parts.front()), {}};
                if (parts.size() > 1) parameter.default_value = reader.expression(parts[1]);
                out.parameters.push_back(std::move(parameter));
            } else if (child.part() == Part::block_inputs) {
                for (const LineNode& input : child.children()) out.inputs.push_back(reader.word(input));
            }
        }
    }

    void read_network(const LineNode& node, ExpressionReader& reader) {
        for (const LineNode& child : node.children()) {
            if (child.part() == Part::input) {
                auto& names = syntax_.inputs.emplace_back();
                auto& places = syntax_.input_places.emplace_back();
                for (const LineNode& name : child.children()) {
                    names.push_back(reader.word(name));
                    places.push_back(reader.place(name));
                }
            } else if (child.part() == Part::gives) {
                syntax_.gives.clear();
                for (const LineNode& word : child.children())
                    syntax_.gives += (syntax_.gives.empty() ? "" : " ") + reader.word(word);
            }
        }
    }

    std::vector<NetworkFault>& faults_;
    NetworkSyntax syntax_;
    LineTree tree_;
    bool has_network_ = false;
};

}  // namespace

NetworkSyntax parse_network(std::string_view text, std::vector<NetworkFault>& faults) {
    const std::vector<LogicalLine> lines = cut_lines(text, faults);
    NetworkSyntax syntax = LineReader(faults).file(lines);
    std::ranges::stable_sort(faults, {}, [](const NetworkFault& fault) { return std::pair(fault.place.line, fault.place.column); });
    return syntax;
}

}  // namespace engine::network
