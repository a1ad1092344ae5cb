import Foundation

/// A file with a text, or with bytes, that disappears with its owner.
final class TemporaryText {
    let path: String

    convenience init(_ text: String) throws { try self.init(Array(text.utf8)) }

    init(_ bytes: [UInt8], name: String = "text") throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent(name).path
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    deinit { try? FileManager.default.removeItem(at: URL(fileURLWithPath: path).deletingLastPathComponent()) }
}
