package import CarpoolJSON

/// Shows the progress of one request on standard error, if it is a terminal.
package struct ProgressMeter {
    private var display: ProgressDisplay
    private var progress = TransferProgress()
    /// What the line begins with, among others of the same command.
    private let name: String?

    /// The types of the events that ``take(_:)`` takes.
    package static let eventTypes = [
        "request.progress", "request.upload_progress", "request.did_suspend", "request.did_resume",
    ]
    /// The interval at which it is drawn again, in milliseconds.
    package static let milliseconds = ProgressDisplay.milliseconds

    /// - Parameter name: the name of the transfer, if the command has others.
    package init(isSilent: Bool, name: String? = nil) {
        display = ProgressDisplay(isSilent: isSilent)
        self.name = name
    }

    /// Whether it shows anything.
    package var isShown: Bool { display.isShown }

    /// The request's id, once an event or a record has come.
    package var request: String { progress.request }

    /// Whether the record of the request may know more than its events.
    package var isBehind: Bool { isShown && progress.isBehind }

    /// Takes an event of the request.
    package mutating func take(_ event: JSON) { progress.take(event) }

    /// Takes the record of the request.
    package mutating func take(record: JSON) { progress.take(record: record) }

    /// Takes the bytes that were read of a body that is sent meanwhile, and its length if that is known.
    package mutating func take(sent: Int64, of total: Int64?) { progress.take(sent: sent, of: total) }

    /// Draws the line, unless the request is quick or the line was drawn a moment ago.
    /// - Parameter isOutputFull: whether standard output takes nothing now.
    package mutating func show(isOutputFull: Bool = false) {
        guard display.isDue, progress.isWorthTelling else { return }
        let line = progress.line(isOutputFull: isOutputFull)
        display.draw([line.running(ProgressDisplay.size.columns, name: name)])
    }

    /// Removes the line; a download that was slow enough gets a summary.
    package mutating func finish(_ record: JSON) {
        clear()
        guard isShown, record["outcome"]?["ok"]?.bool == true else { return }
        progress.take(record: record)
        if let summary = progress.summary { display.keep(ProgressLine.named(name, summary)) }
    }

    /// Removes the line, if it was drawn.
    package mutating func clear() { display.clear() }
}
