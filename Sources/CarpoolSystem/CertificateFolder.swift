internal import Glibc

/// Folders of certificates in PEM: the files that end with `.pem`, `.crt` or `.cer`, and hashes as `openssl rehash`
/// makes them.
public enum CertificateFolder {
    /// Whether a file of such a folder is read.
    public static func isCertificate(_ name: String) -> Bool {
        if [".pem", ".crt", ".cer"].contains(where: name.lowercased().hasSuffix) { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].utf8.count == 8 && parts[0].allSatisfy(\.isHexDigit)
            && !parts[1].isEmpty && parts[1].allSatisfy(\.isNumber)
    }

    /// Calls a closure with the names of such files until it returns `false`; `errno` if the folder cannot be opened.
    public static func forEachName(in path: String, _ body: (String) -> Bool) -> Int32? {
        guard let folder = SystemPath.withBytes(path, { opendir($0) }) else { return errno }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { SystemPath.text($0) }
            }
            if isCertificate(name), !body(name) { break }
        }
        return nil
    }

    /// Whether a folder can be opened and has such a file.
    public static func hasCertificates(_ path: String) -> Bool {
        var hasAny = false
        _ = forEachName(in: path) { _ in
            hasAny = true
            return false
        }
        return hasAny
    }
}
