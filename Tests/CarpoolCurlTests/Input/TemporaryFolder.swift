import Foundation

/// A folder with files that disappears with its owner.
final class TemporaryFolder {
    let path: String

    init(_ files: [String: [UInt8]] = [:]) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
        for (name, bytes) in files { try write(name, bytes) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path).appendingPathComponent(name))
    }

    func read(_ name: String) throws -> String {
        try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
    }

    /// Opens a file for reading; the caller closes it.
    func open(_ name: String) throws -> FileHandle {
        try FileHandle(forReadingFrom: URL(fileURLWithPath: path).appendingPathComponent(name))
    }
}
