@testable import CarpoolSession

/// A property list that is read can be written in both forms, and reads back the same.
enum PropertyListsTarget {
    static func run(_ input: UnsafeRawBufferPointer) {
        guard let value = try? PropertyList.decode(Array(input)) else { return }
        for format in PropertyListFormat.allCases {
            guard let written = try? PropertyList.encode(value, as: format) else { continue }
            guard let again = try? PropertyList.decode(written) else { fail("\(format): what was written is none") }
            // XML has dates to the second.
            require(format == .xml && hasDate(value) || again == value, "\(format): \(value) is read as \(again)")
        }
    }

    private static func hasDate(_ value: StructuredValue) -> Bool {
        switch value {
        case .date: true
        case .array(let elements): elements.contains(where: hasDate)
        case .object(let members): members.contains { hasDate($0.value) }
        default: false
        }
    }
}
