import Testing

/// A decision: what is stored, what is asked, and what is done so many seconds later.
struct PolicyRow: Sendable, CustomTestStringConvertible {
    var id: String
    var response: [String] = []
    var status = 200
    var request: [String] = []
    var seconds = 3.0
    var isShared = false
    var expected: String

    var testDescription: String { id }
}
