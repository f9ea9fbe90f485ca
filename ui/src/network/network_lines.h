#pragma once

#include <QStringList>
#include <vector>

namespace ui {

using namespace Qt::StringLiterals;  // for all sources of the window

/// A line of a network's text, read for the page alone: where bodies begin and end, and what a box
/// is called. The engine checks the text (engine/network/network.h).
struct NetworkLine {
    enum class Kind {
        none,       ///< empty, a comment, or a line that continues the one above
        option,
        init,
        block,
        network,
        let,
        output,
        repeat,
        container,  ///< a label with a body
        layer       ///< makes or names a value
    };
    Kind kind = Kind::none;
    int indent = 0;            ///< spaces before it
    QString label;             ///< "conv1" of "conv1: Conv2d(8, 3)"
    QString callee;            ///< "Conv2d"; of a block its name
    bool conditional = false;  ///< ends with "if ..."
    int head = -1;             ///< the line whose body it belongs to, from 0; -1: none
    int end = -1;              ///< last line of its body, from 0; itself without a body

    bool hasValue() const { return kind == Kind::layer || kind == Kind::container || kind == Kind::repeat; }
};

/// One for each line of the text.
std::vector<NetworkLine> networkLines(const QString& text);

/// The lines as settings keep them: without an empty one at the end.
QStringList textLines(const QString& text);

/// The line without its comment.
QString withoutComment(const QString& line);

}  // namespace ui
