import Foundation

/// The checkout as the layering tests read it: paths relative to its top, and files as lines.
enum SourceTree {
    /// The top of the checkout, from where this file was compiled.
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The targets that have a folder under `Sources`.
    static func targets() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("Sources").path)
            .filter { !$0.hasPrefix(".") }.sorted()
    }

    /// Every file under `folder` whose name ends with one of `suffixes`, in order. Build products (dot-folders) are
    /// left out.
    static func files(under folder: String, suffixes: [String]) throws -> [SourceFile] {
        let top = root.appendingPathComponent(folder)
        guard
            let paths = FileManager.default.enumerator(
                at: top, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        else { return [] }
        return try paths.compactMap { $0 as? URL }
            .filter { url in suffixes.contains { url.lastPathComponent.hasSuffix($0) } }
            .sorted { $0.path < $1.path }
            .map { try SourceFile(path: String($0.path.dropFirst(root.path.count + 1))) }
    }

    /// All Swift files of the product, read once.
    static func swiftSources() throws -> [SourceFile] { try sources.get() }

    private static let sources = Result { try files(under: "Sources", suffixes: [".swift"]) }
}
