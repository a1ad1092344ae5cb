import CarpoolHTTP
import Testing

@testable import CarpoolSession

@Suite("The settings of connections that requests inherit")
struct InheritedSettingsTests {
    private func origin(_ number: Int) throws -> Origin { try HTTPURL("https://host\(number).example/").origin }

    private func settings() -> ConnectionSettings? {
        var values = ConnectionSettings.Values()
        values.trust = .none
        return .make(values)
    }

    @Test("They are made once for each origin, also if there are none")
    func once() throws {
        var inherited = InheritedSettings()
        var made = 0
        let first = inherited.settings(for: try origin(1)) {
            made += 1
            return settings()
        }
        #expect(try inherited.settings(for: origin(1)) { nil } === first)
        #expect(try inherited.settings(for: origin(2)) { nil } == nil)
        #expect(try inherited.settings(for: origin(2)) { settings() } == nil)
        #expect(made == 1)
    }

    @Test("Beyond the most origins they are made again")
    func bounded() throws {
        var inherited = InheritedSettings()
        var made = 0
        for number in [1, 1] + Array(2...16) + [1, 17, 1] {
            _ = inherited.settings(for: try origin(number)) {
                made += 1
                return settings()
            }
        }
        #expect(made == 18)
    }
}
