#pragma once

#include <QString>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/network/network.h"
#include "network/network_lines.h"

namespace ui {

/// Which use of each block and which run of each repeat is on show, by its line (from 1); 0 for
/// those that are not in it.
using ChosenRuns = std::map<int, int>;

/// The columns of a line, and its box in the drawing.
struct NetworkLineRow {
    enum class State {
        nothing,  ///< has no value
        layer,
        head,     ///< sums of what is below it, or of the block that it uses
        leftOut,  ///< its condition is false
        unknown   ///< has a fault, or takes a value that is unknown
    };
    State state = State::nothing;
    QString shape;  ///< "N × 64 × 32 × 32"
    std::int64_t parameters = 0;
    double flops = 0;
    double saved = 0;          ///< bytes kept for the backward pass
    int row = -1;              ///< of CheckedNetwork::rows; -1: none, or several
    int run = 0, runs = 0;     ///< of a block or repeat: which is on show, and how many there are
    int usedBlock = 0;         ///< line of the block that it uses, from 1; 0: none
    QString box;               ///< what its box says; empty: no box
    QString around;            ///< module around the use on show: "layer2.0"
};

/// A value that later lines take: from its line to each of theirs, all from 1.
struct NetworkRail {
    int from = 0;
    std::vector<int> to;
    int lane = 0;  ///< from 1; 0: straight down to the next box
};

struct NetworkRows {
    std::vector<NetworkLineRow> lines;
    std::vector<NetworkRail> rails;
    int lanes = 0;
    int bundled = 0;  ///< rails that share the last lane
};

inline constexpr int mostLanes = 6;

/// Makes the rows that stand beside each line of a text. `saved`: bytes of each row of the network;
/// empty: not known.
NetworkRows networkRows(const std::vector<NetworkLine>& lines, const engine::CheckedNetwork& network,
                        const ChosenRuns& chosen, const std::vector<double>& saved = {});

/// Shows another run of a block or repeat: the heads around it and within it move together.
void chooseRun(ChosenRuns& chosen, const engine::CheckedNetwork& network, int line, int run);
/// Drops runs that the network does not have, and chooses uses of blocks that go together.
void fitRuns(ChosenRuns& chosen, const engine::CheckedNetwork& network);

/// "N × 64 × 32 × 32"
QString shapeText(const std::string& shape);

}  // namespace ui
