internal import CarpoolCaller
internal import CarpoolSystem

/// An argument that names no file.
enum PlainArgument {
    /// Returns its text. Throws if it is not UTF-8: a repaired one would differ from what the user typed.
    static func text(of value: String, name: @autoclosure () -> String) throws(UsageError) -> String {
        guard SystemPath.hasBytes(value) else { return value }
        guard let text = String(validating: SystemPath.bytes(of: value), as: UTF8.self) else {
            throw UsageError("\(name()) is not UTF-8; send binary data from a file: -d @FILE")
        }
        return text
    }
}
