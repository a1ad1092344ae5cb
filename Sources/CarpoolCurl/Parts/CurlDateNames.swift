/// The names that dates consist of.
enum CurlDateNames {
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    /// Whether a word is a day of the week, whole or its first three letters.
    static func isWeekday(_ word: String) -> Bool {
        let name = word.lowercased()
        return weekdays.contains { $0 == name || $0.prefix(3) == name }
    }

    /// The number of a month from its first three letters, from 0.
    static func month(_ word: String) -> Int? {
        let name = word.lowercased()
        return months.firstIndex { $0.lowercased() == name }
    }

    /// The minutes that are added to a time of a zone to get UTC.
    static func zone(_ word: String) -> Int? {
        let name = word.uppercased()
        if name.utf8.count == 1 { return name.utf8.first.flatMap(militaryZone) }
        return zones[name]
    }

    /// The zones of one letter, with the signs of actual military use. J is none.
    private static func militaryZone(_ letter: UInt8) -> Int? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "I"): (Int(letter) - 0x40) * 60
        case UInt8(ascii: "K")...UInt8(ascii: "M"): (Int(letter) - 0x41) * 60
        case UInt8(ascii: "N")...UInt8(ascii: "Y"): -(Int(letter) - 0x4D) * 60
        case UInt8(ascii: "Z"): 0
        default: nil
        }
    }

    private static let zones: [String: Int] = [
        "GMT": 0, "UT": 0, "UTC": 0, "WET": 0, "BST": -60, "WAT": 60, "AST": 240, "ADT": 180, "EST": 300, "EDT": 240,
        "CST": 360, "CDT": 300, "MST": 420, "MDT": 360, "PST": 480, "PDT": 420, "YST": 540, "YDT": 480, "HST": 600,
        "HDT": 540, "CAT": 600, "AHST": 600, "NT": 660, "IDLW": 720, "CET": -60, "MET": -60, "MEWT": -60,
        "MEST": -120, "CEST": -120, "MESZ": -120, "FWT": -60, "FST": -120, "EET": -120, "WAST": -420, "WADT": -480,
        "CCT": -480, "JST": -540, "EAST": -600, "EADT": -660, "GST": -600, "NZT": -720, "NZST": -720, "NZDT": -780,
        "IDLE": -720,
    ]
}
