#pragma once

#include <QList>
#include <QPointF>
#include <QString>
#include <limits>
#include <map>
#include <vector>

namespace ui {

/// A question of a lesson before its run.
struct Question {
    enum class Kind { choice, number, range, curve };
    struct Choice {
        QString key;
        QString text;
    };
    QString id;
    QString text;
    Kind kind = Kind::choice;
    std::vector<Choice> choices;  ///< of a choice
    double low = 0, high = 1;     ///< of a range; of a curve its x axis, in steps
    double yLow = 0, yHigh = 1;   ///< of a curve
    bool yLog = false;            ///< its heights are powers of two
    QString unit;                 ///< of a number; may be empty
    QString column;               ///< of a curve: what is drawn
    QString note;                 ///< beside the answer; may be empty
    QString hint;                 ///< after a wrong prediction; may be empty
};

/// Answer of the learner.
struct Guess {
    QString key;                                               ///< of a choice
    double number = std::numeric_limits<double>::quiet_NaN();  ///< of a number or range
    QList<QPointF> curve;                                      ///< step and value, by step
    std::map<QString, int> hands;  ///< of a choice in a class: hands counted for each key

    /// Nothing was answered yet.
    bool empty() const { return key.isEmpty() && !(number == number) && curve.isEmpty(); }
    /// Two that hold no number are equal in it.
    bool operator==(const Guess& other) const {
        const bool none = !(number == number) && !(other.number == other.number);
        return key == other.key && (none || number == other.number) && curve == other.curve &&
               hands == other.hands;
    }
};

}  // namespace ui
