#pragma once

#include <QString>
#include <vector>

#include "network/network_lines.h"

namespace engine {
struct OptionSpec;
}

namespace ui {

/// A word that fits at the cursor.
struct NetworkWord {
    QString text;    ///< as the list shows it: "stride=1"
    QString insert;  ///< what it becomes in the text: "stride="
    QString note;    ///< beside it: the help of a kind, the kind of a name
};

/// The words that fit at a place of the text.
struct NetworkWords {
    int from = 0;   ///< where the word at the cursor begins, in its line
    QString title;  ///< the layer whose arguments are listed: "Conv2d(out_channels, kernel_size; ...)"
    std::vector<NetworkWord> words;
};

/// Kinds of layers and blocks where a layer stands, arguments within its brackets, values behind
/// `from`, names where an expression stands; those that begin with what is typed already.
/// `line` counts from 0, `column` the characters before the cursor.
NetworkWords networkWords(const QString& text, const std::vector<NetworkLine>& lines,
                          const std::vector<engine::OptionSpec>& options, int line, int column);

}  // namespace ui
