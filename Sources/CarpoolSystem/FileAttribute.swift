internal import CLinux
internal import Glibc

/// Extended attributes of open files (xattr(7)), which stay with a file when it is renamed. Not every file system has
/// them.
public enum FileAttribute {
    /// The value of an attribute, up to so many bytes; `nil` if the file has no such attribute, or a longer one.
    public static func read(_ name: String, of descriptor: Int32, atMost limit: Int) -> [UInt8]? {
        var value = [UInt8](repeating: 0, count: limit)
        let count = value.withUnsafeMutableBytes { fgetxattr(descriptor, name, $0.baseAddress, $0.count) }
        guard count >= 0 else { return nil }
        return Array(value[..<count])
    }

    /// The names of all attributes that the caller may see; empty on a file system without attributes, `nil` if they
    /// cannot be read.
    public static func names(of descriptor: Int32) -> [String]? {
        var list = [CChar](repeating: 0, count: maximumBytes)
        let count = flistxattr(descriptor, &list, list.count)
        guard count >= 0 else { return errno == ENOTSUP ? [] : nil }
        return list[..<count].split(separator: 0).map { name in
            String(decoding: name.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// The most bytes of a value and of a list of names that the kernel allows.
    static let maximumBytes = 65_536

    /// Sets an attribute, in one step. Returns whether the file has it now.
    public static func write(_ name: String, _ value: [UInt8], of descriptor: Int32) -> Bool {
        value.withUnsafeBytes { fsetxattr(descriptor, name, $0.baseAddress, $0.count, 0) == 0 }
    }

    /// Removes an attribute, if the file has it.
    public static func remove(_ name: String, of descriptor: Int32) { _ = fremovexattr(descriptor, name) }
}
