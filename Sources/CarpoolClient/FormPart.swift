package import CarpoolJSON
internal import CarpoolSystem

/// A part of a multipart form.
package struct FormPart: Equatable {
    /// The source of its content.
    package enum Content: Equatable {
        case text(String)
        case file(String)
        /// A part of a file.
        case piece(String, offset: Int64, length: Int64)
    }

    package let name: String
    package let content: Content
    /// Its content type; `nil` for the type that the daemon derives from the file name.
    package let type: String?
    /// The file name that the server receives; `nil` for the file's own.
    package let fileName: String?

    package init(name: String, content: Content, type: String? = nil, fileName: String? = nil) {
        self.name = name
        self.content = content
        self.type = type
        self.fileName = fileName
    }

    /// The last component of the path: the daemon derives a file name only from a path with an extension.
    private var ownName: String? {
        guard case .file(let path) = content else { return nil }
        return path.split(separator: "/").last.map(String.init)
    }

    /// The part with a content that is in another file, under its own name.
    func reading(_ path: String, offset: Int64, length: Int64) -> FormPart {
        FormPart(
            name: name, content: .piece(path, offset: offset, length: length), type: type,
            fileName: fileName ?? ownName)
    }

    /// Writes the object that `request.perform` takes as a part of `multipart`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", name)
        switch content {
        case .text(let text): writer.member("text", text)
        case .file(let path): writer.member("file", SocketLocation.absolute(path))
        case .piece(let path, let offset, let length):
            writer.member("file", path)
            writer.member("offset", offset)
            writer.member("length_bytes", length)
        }
        writer.member("file_name", fileName ?? ownName)
        writer.member("content_type", type)
        writer.endObject()
    }
}
