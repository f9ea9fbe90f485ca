#include "panels/frame/command_bar.h"

#include <QStyleOptionButton>
#include <QStylePainter>
#include <algorithm>
#include <array>

#include "commands/commands.h"
#include "commands/run_actor.h"
#include "engine/settings/catalog.h"
#include "engine/train/machine.h"
#include "feed/background_task.h"
#include "feed/event_feed.h"
#include "models/settings_model.h"
#include "plots/plot_link.h"
#include "text/format.h"
#include "text/language.h"
#include "text/precision_title.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "view/view.h"
#include "widgets/key_bindings.h"
#include "widgets/panel.h"
#include "widgets/spoken_texts.h"

namespace ui {

ShownRuns shownRuns(const Context& context) {
    const RunActor* actor = context.commands->actor();
    if (actor == nullptr) return {context.feed->tracks(), context.link, selectedTrack(context)};
    TrackList tracks = actor->tracks();
    PlotLink* link = actor->link();
    auto selected = selectedTrack(tracks, *link);
    return {std::move(tracks), link, std::move(selected)};
}

QString shownTitle(const Context& context, const RunTrack& track) {
    const RunActor* actor = context.commands->actor();
    return actor != nullptr ? actor->title(track) : trackTitle(track);
}

KeyButton::KeyButton(const Theme* theme, const QString& text, const QKeySequence& key,
                     QWidget* parent)
    : QPushButton(text, parent), theme_(theme) {
    setKey(key);
}

void KeyButton::setKey(const QKeySequence& key) {
    keys_ = key.toString(QKeySequence::NativeText);
    keys_.replace(u"Return"_s, u"↵"_s).replace(u'+', u' ');
    updateGeometry();
    update();
}

void KeyButton::follow(const QString& command, const QKeySequence& usual) {
    const auto show = [this, command, usual] {
        setKey(KeyBindings::keys(command, {usual}).value(0));
    };
    connect(KeyBindings::instance(), &KeyBindings::changed, this, show);
    show();
}

void KeyButton::setCapShown(bool shown) {
    if (shown == capShown_) return;
    capShown_ = shown;
    updateGeometry();
    update();
}

int KeyButton::capWidth() const {
    return keys_.isEmpty() || !capShown_
               ? 0
               : QFontMetrics(Theme::caption()).horizontalAdvance(keys_) + 10;
}

QSize KeyButton::sizeHint() const {
    const QSize base = QPushButton::sizeHint();
    return {base.width() + (capWidth() == 0 ? 0 : capWidth() + 6), base.height()};
}

void KeyButton::paintEvent(QPaintEvent* event) {
    if (capWidth() == 0) {
        QPushButton::paintEvent(event);
        return;
    }
    // Text and icon in the part before the cap.
    QStylePainter painter(this);
    QStyleOptionButton option;
    initStyleOption(&option);
    painter.drawControl(QStyle::CE_PushButtonBevel, option);
    option.rect.setRight(option.rect.right() - capWidth() - 8);
    painter.drawControl(QStyle::CE_PushButtonLabel, option);
    QColor ink = objectName() == u"primary"_s && isEnabled() ? theme_->tokens().onAccent
                                                             : theme_->tokens().dim;
    if (!isEnabled()) ink = blend(theme_->tokens().panel, theme_->tokens().dim, 0.65);
    const QFontMetrics metrics(Theme::caption());
    const QRectF cap(width() - capWidth() - 9.5, (height() - metrics.height() - 3) / 2 + 0.5,
                     capWidth(), metrics.height() + 2);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(Theme::caption());
    QColor edge = ink;
    edge.setAlphaF(0.45f);
    painter.setPen(edge);
    painter.drawRoundedRect(cap, 3, 3);
    painter.setPen(ink);
    painter.drawText(cap, Qt::AlignCenter, keys_);
}

CommandBar::CommandBar(const Context& context, QWidget* parent)
    : QWidget(parent), context_(context) {
    row_ = makeRow(this, {size::inside, size::gap - 1, size::inside, size::gap - 1}, size::gap);
    row_->setSizeConstraint(QLayout::SetNoConstraint);
    compare_ = button({}, u"run/compare"_s, QKeySequence(Qt::CTRL | Qt::Key_Return));
    compare_->setObjectName(u"primary"_s);
    start_ = button(tr("Start"));
    pause_ = button(tr("Pause"), u"run/pause"_s, QKeySequence(Qt::Key_Space));
    step_ = button(tr("Step"), u"run/step"_s, QKeySequence(Qt::Key_S));
    stop_ = button(tr("Stop"));
    row_->addStretch();
    device_ = chip(tr("Device"));
    seen_ = chip(tr("Steps"));
    applied_ = chip(tr("Updates"));
    skipped_ = chip(tr("Skipped steps"));
    Commands* commands = context_.commands;
    connect(compare_, &QPushButton::clicked, commands, &Commands::compare);
    connect(start_, &QPushButton::clicked, commands, &Commands::start);
    connect(pause_, &QPushButton::clicked, commands, &Commands::togglePause);
    connect(step_, &QPushButton::clicked, commands, &Commands::step);
    connect(stop_, &QPushButton::clicked, commands, &Commands::stop);
    connect(commands, &Commands::buttonsChanged, this, &CommandBar::refreshButtons);
    connect(commands, &Commands::actorChanged, this, &CommandBar::followActor);
    connect(context_.feed, &EventFeed::figuresDue, this, &CommandBar::refreshCounters);
    connect(context_.feed, &EventFeed::tracksChanged, this, &CommandBar::refreshCounters);
    connect(context_.link, &PlotLink::selectedChanged, this, &CommandBar::refreshCounters);
    connect(context_.theme, &Theme::changed, this, &CommandBar::applyStyle);
    inspectDevice();
    applyStyle();
    refreshButtons();
    refreshCounters();
}

void CommandBar::followActor() {
    const RunActor* actor = context_.commands->actor();
    if (actor != nullptr) {
        for (const auto signal : {&RunActor::tracksChanged, &RunActor::figuresDue}) {
            connect(actor, signal, this, &CommandBar::refreshCounters, Qt::UniqueConnection);
        }
        connect(actor->link(), &PlotLink::selectedChanged, this, &CommandBar::refreshCounters,
                Qt::UniqueConnection);
    }
    // A page's runs have one start, the first button.
    start_->setVisible(actor == nullptr);
    refreshButtons();
    refreshCounters();
}

void CommandBar::focusPrimary() { compare_->setFocus(Qt::OtherFocusReason); }

KeyButton* CommandBar::button(const QString& text, const QString& command,
                              const QKeySequence& key) {
    auto* made = new KeyButton(context_.theme, text, key, this);
    if (!command.isEmpty()) made->follow(command, key);
    made->setMinimumHeight(size::control);
    row_->addWidget(made);
    return made;
}

QLabel* CommandBar::chip(const QString& name) {
    auto* made = withName(new QLabel(this), u"chip"_s);
    made->setTextFormat(Qt::RichText);
    made->setAccessibleName(name);
    row_->addWidget(made);
    return made;
}

QString CommandBar::compareText() const {
    if (const RunActor* actor = context_.commands->actor()) return actor->startText();
    QStringList titles;
    for (const QString& preset : context_.settings->comparison())
        titles << precisionTitle(preset.toStdString());
    if (titles.size() > 2) return tr("Compare %1 precisions").arg(titles.size());
    return tr("Compare %1").arg(titles.join(u" · "_s));
}

void CommandBar::applyStyle() {
    const bool resumes = context_.commands->buttons().pauseResumes;
    compare_->setIcon(accentIcon(*context_.theme, u"compare"_s));
    start_->setIcon(themedIcon(*context_.theme, u"start"_s));
    pause_->setIcon(themedIcon(*context_.theme, resumes ? u"start"_s : u"pause"_s));
    step_->setIcon(themedIcon(*context_.theme, u"step"_s));
    stop_->setIcon(themedIcon(*context_.theme, u"stop"_s));
    fit();
}

QSize CommandBar::minimumSizeHint() const {
    // Narrower than its contents now: they give way one after the other.
    return {560, QWidget::minimumSizeHint().height()};
}

void CommandBar::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fit();
}

/// Chips are of one height, which holds the tallest font among their letters: for Chinese, and for
/// the dot of the device, that is not the window's own.
void CommandBar::alignChips() {
    int height = Theme::rowHeight(22);
    const std::array chips{device_, seen_, applied_, skipped_};
    for (const QLabel* chip : chips) height = std::max(height, chip->sizeHint().height());
    for (QLabel* chip : chips) {
        if (chip->height() != height || chip->maximumHeight() != height)
            chip->setFixedHeight(height);
    }
}

void CommandBar::fit() {
    for (const Fit level : {Fit::all, Fit::shortDevice, Fit::noKeys, Fit::noCounts}) {
        fit(level);
        if (row_->sizeHint().width() <= width()) break;
    }
    alignChips();
}

void CommandBar::fit(Fit level) {
    if (!deviceName_.isEmpty()) {
        device_->setText(u"<span style='color:%1'>●</span> %2"_s.arg(
            context_.theme->tokens().good.name(),
            level >= Fit::shortDevice ? deviceName_ : deviceWords_));
    }
    for (auto* made : {compare_, start_, pause_, step_, stop_}) {
        made->setCapShown(level < Fit::noKeys);
    }
    for (auto* label : {seen_, applied_}) label->setVisible(level < Fit::noCounts);
    row_->invalidate();
}

void CommandBar::refreshButtons() {
    const ButtonStates states = context_.commands->buttons();
    compare_->setText(compareText());
    pause_->setText(states.pauseResumes ? tr("Resume") : tr("Pause"));
    const bool owned = context_.commands->actor() != nullptr;
    const QString stepHelp = owned ? tr("One step, then pause")
                             : states.compare.enabled
                                 ? tr("Start the comparison with one step, then pause")
                                 : tr("One step, then pause");
    const std::tuple<KeyButton*, const ButtonState*, QString> all[] = {
        {compare_, &states.compare,
         owned ? tr("Train the runs of the lesson, side by side")
               : tr("Train the same network in each of these precisions, side by side")},
        {start_, &states.start, tr("Train one run with the settings")},
        {pause_, &states.pause,
         states.pauseResumes ? tr("Continue training") : tr("Pause after the current step")},
        {step_, &states.step, stepHelp},
        {stop_, &states.stop,
         owned ? tr("Stop after the current step")
               : tr("Stop after the current step; the run is kept")}};
    // First what opens, then what closes: the focus stays within these buttons.
    for (const auto& [made, state, help] : all) {
        if (state->enabled) made->setEnabled(true);
    }
    keepFocus(states);
    for (const auto& [made, state, help] : all) {
        made->setEnabled(state->enabled);
        const QString keys = made->keys();
        const QString tip = state->enabled ? help : state->why;
        made->setToolTip(keys.isEmpty() ? tip : tip + u" ("_s + keys + u')');
        made->setAccessibleDescription(tip);
    }
    applyStyle();
}

void CommandBar::keepFocus(const ButtonStates& next) {
    const std::pair<KeyButton*, const ButtonState*> all[] = {{compare_, &next.compare},
                                                             {start_, &next.start},
                                                             {pause_, &next.pause},
                                                             {step_, &next.step},
                                                             {stop_, &next.stop}};
    const bool leaves = hasFocus() || std::any_of(std::begin(all), std::end(all), [](auto& each) {
                            return each.first->hasFocus() && !each.second->enabled;
                        });
    if (!leaves) return;
    if (next.pause.enabled) {
        pause_->setFocus(Qt::OtherFocusReason);
    } else if (next.compare.enabled) {
        compare_->setFocus(Qt::OtherFocusReason);
    } else {
        // While a stopped run is saved, no button can have it: the bar holds it for the next one.
        setFocus(Qt::OtherFocusReason);
    }
}

void CommandBar::refreshCounters() {
    const auto [tracks, link, track] = shownRuns(context_);
    const engine::KeyFigures now = track ? track->figures() : engine::KeyFigures{};
    const auto words = [](const QString& name, std::int64_t value) {
        return name + u" <b>"_s + count(value) + u"</b>"_s;
    };
    seen_->setText(words(tr("Steps"), now.steps));
    applied_->setText(words(tr("Updates"), now.updates));
    skipped_->setText(words(tr("Skipped"), now.skipped));
    for (auto* label : {seen_, applied_, skipped_}) announceText(label);
    restyle(skipped_, "alarm", now.skipped > 0);
    QString all = track ? tr("Steps of %1").arg(shownTitle(context_, *track)) : QString();
    for (const auto& other : tracks) {
        if (other == track || other->rows() == 0) continue;
        const engine::KeyFigures its = other->figures();
        all += u'\n' + tr("%1: %2 steps, %3 updates, %4 skipped")
                           .arg(shownTitle(context_, *other), count(its.steps), count(its.updates),
                                count(its.skipped));
    }
    for (auto* label : {seen_, applied_, skipped_}) label->setToolTip(all);
    if (row_->sizeHint().width() > width()) fit();
    alignChips();
}

void CommandBar::inspectDevice() {
    device_->setText(tr("checking this machine…"));
    inBackground(
        this, [] { return engine::inspect_machine(); },
        [this](const engine::MachineReport& machine) {
            const QString name = machine.cuda_present ? u"CUDA"_s : u"CPU"_s;
            const QString bf16 = machine.bf16_native ? tr("BF16 native") : tr("BF16 emulated");
            const QString fp16 = machine.fp16_native ? tr("FP16 native") : tr("FP16 emulated");
            deviceName_ = name;
            deviceWords_ = u"%1 · %2 · %3"_s.arg(name, bf16, fp16);
            applyStyle();
            QString tip = tr("%1, %2 cores, %3 of memory")
                              .arg(QString::fromStdString(machine.cpu))
                              .arg(machine.cores)
                              .arg(bytes(machine.memory_bytes));
            if (!machine.cuda_note.empty()) tip += u'\n' + engineText(machine.cuda_note);
            for (const auto& pay : machine.precisions)
                tip += u'\n' + precisionTitle(pay.precision) + u": "_s + engineText(pay.why);
            // Rich text is wrapped at a readable width; plain text would be one line each.
            device_->setToolTip(u"<p>"_s + tip.toHtmlEscaped().replace(u'\n', u"</p><p>"_s) +
                                u"</p>"_s);
        });
}

}  // namespace ui
