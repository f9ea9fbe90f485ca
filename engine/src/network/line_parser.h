#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/message.h"

namespace engine::network {

/// Parts of a line that its tree keeps.
enum class Part {
    none,
    number,
    string,
    path,
    truth,
    call,
    name,
    named_argument,
    argument,
    list,
    index,
    item,
    power,
    negative,
    product,
    sum,
    comparison,
    operator_sign,
    negation,
    both,
    either,
    expression,
    plain_piece,
    computed,
    label,
    label_colon,
    value_name,
    from,
    condition,
    layer,
    layer_call,
    container,
    let,
    output,
    repeat,
    each_list,
    range_end,
    index_name,
    signed_number,
    minus,
    literal_list,
    bounds,
    choices,
    help,
    option,
    init,
    block,
    parameter,
    block_inputs,
    network,
    input,
    gives,
};

/// The parts of a line, each followed by those inside it. Chains of operators have a part of each rank, also of one operand.
class LineTree {
public:
    struct Entry {
        Part part;
        std::uint32_t begin, end;  ///< of its text
        std::uint32_t next;        ///< the entry after those inside it
    };

    std::string_view text{};
    std::vector<Entry> entries{};
};

/// A part of a LineTree, which outlives it.
class LineNode {
public:
    LineNode(const LineTree& tree, std::size_t index) : tree_(&tree), index_(index) {}

    Part part() const { return entry().part; }
    std::string_view text() const { return tree_->text.substr(entry().begin, entry().end - entry().begin); }
    std::size_t offset() const { return entry().begin; }

    bool has_children() const { return index_ + 1 < entry().next; }
    LineNode first() const { return {*tree_, index_ + 1}; }
    std::vector<LineNode> children() const;
    /// The first of this part; nothing: none.
    std::optional<LineNode> find(Part part) const;
    /// A chain of one operand as that operand.
    LineNode unfolded() const;

private:
    const LineTree::Entry& entry() const { return tree_->entries[index_]; }

    const LineTree* tree_;
    std::size_t index_;
};

/// The forms of lines.
enum class LineForm { option, init, block, network, head_of_body, statement };

/// The place in the line where it does not go on.
struct LineFault {
    std::size_t offset = 0, length = 1;  ///< bytes
    Message text{};
};

/// The word or character at a place of a line, in quotes.
std::string found_at(std::string_view line, std::size_t offset);

/// Parses a line into `tree`, whose first entry is the whole line. Returns its fault.
std::optional<LineFault> parse_line(LineForm form, std::string_view line, LineTree& tree);

}  // namespace engine::network
