#pragma once

#include <QString>
#include <vector>

#include "engine/base/message.h"
#include "engine/runs/run_fields.h"

namespace ui {

/// A name that a term of a filter over runs can begin with.
struct FilterName {
    QString title;  ///< "Learning rate", as the window calls the field
    QString key;    ///< "optimizer.lr", as filters of the command line do
};

/// Names of the fields, each title once.
std::vector<FilterName> filterNames(const std::vector<engine::RunField>& fields);
/// A title as it is written in a term: in quotes if it has several words.
QString quotedTitle(const QString& title);
/// The filter with keys in place of titles: `"Learning rate">0.01` becomes `optimizer.lr>0.01`.
QString filterWithKeys(const QString& filter, const std::vector<FilterName>& names);
/// Says what is wrong with a filter, with titles in place of keys, as they are written in a term.
engine::Message messageWithTitles(engine::Message message, const std::vector<FilterName>& names);

}  // namespace ui
