internal import Glibc

/// The name of a partial file: hidden, in the directory of the final file, with the id of its request.
struct PartialName {
    private static let suffix = ".carpool-part"

    /// The name for a request's file, in the same directory: `.NAME.REQUEST.carpool-part`, where a long NAME is
    /// truncated.
    static func make(for file: String, request: String) -> String {
        var name = file
        let room = Int(NAME_MAX) - request.utf8.count - suffix.utf8.count - 2
        while name.utf8.count > max(0, room) { name.removeLast() }
        return ".\(name).\(request)\(suffix)"
    }

    /// What stands for a request in the name of the file that an attempt makes: its id, with the number of a later
    /// attempt. The file of an earlier one may not be removed yet.
    static func owner(of request: String, attempt: Int) -> String {
        attempt > 1 ? "\(request)_\(attempt)" : request
    }

    /// The request that made the partial file at a path, with its attempt; `nil` if the name is not one of ours.
    static func request(ofPath path: String) -> String? {
        guard let name = path.split(separator: "/").last, name.hasPrefix("."), name.hasSuffix(suffix) else {
            return nil
        }
        let inner = name.dropLast(suffix.count)
        guard let dot = inner.lastIndex(of: "."), dot > inner.startIndex else { return nil }
        let request = inner[inner.index(after: dot)...]
        let isName = request.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
        }
        return request.hasPrefix("r_") && isName ? String(request) : nil
    }
}
