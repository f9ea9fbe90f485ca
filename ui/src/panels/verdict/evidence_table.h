#pragma once

#include <QString>
#include <QStringList>

namespace ui {

class RunTrack;

/// The evidence of a verdict as an HTML table: a row for each figure with its values in both runs,
/// then a row for each sentence. The figures are those of the cards.
QString evidenceTable(const RunTrack& baseline, const RunTrack& other,
                      const QStringList& sentences);

}  // namespace ui
