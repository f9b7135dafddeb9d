"""Everyday words of English with their like in German, French and Spanish, written for Ragweave.

A few hundred words stand in for the multilingual encoder that nobody has to have: what is asked for is mostly a price,
a time, a person or a thing of the house, the street or the year. Word forms are those that notes have most often.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ragweave.corpora.meta import FUNCTION_WORDS
from ragweave.models.text import content_terms, names, terms

_COLUMNS = ("en", "de", "fr", "es")
TAUGHT = _COLUMNS[1:]
"""Languages beside English, by ISO 639-1."""
_ROWS = """
cost costs price charge|kosten kostet preis gebühr|coûte coûter prix tarif|cuesta precio tarifa
fee entrance admission|eintritt gebühr beitrag|entrée frais cotisation|entrada cuota
rent|miete|loyer|alquiler
pay paid|zahlen zahlt bezahlen bezahlt|payer paie payé|pagar paga pagado
money|geld|argent|dinero
bill invoice|rechnung|facture|factura
deposit|kaution anzahlung|caution acompte|fianza depósito
free|frei kostenlos|gratuit libre|gratis libre
cheap cheaper|billig günstig|marché|barato
expensive dear|teuer|cher|caro
open opens opening|geöffnet öffnet offen öffnungszeiten|ouvert ouvre ouverture|abierto abre apertura
close closes closed|geschlossen schließt|fermé ferme fermeture|cerrado cierra
begin begins start starts|beginnt beginn anfang fängt|commence début|empieza comienza comienzo
end ends finish|endet ende schluss|finit fin termine|termina fin
leave leaves depart departure|fährt abfahrt abreise geht|part départ quitte|sale salida parte
arrive arrives arrived arrival|kommt ankunft ankommen angekommen|arrive arrivée|llega llegó llegada
meet meets meeting|treffen trifft treffpunkt sitzung versammlung|rendez-vous réunion rencontre|reunión encuentro
come comes came|kommt kommen kam|vient venir|viene venir
go goes went trip journey travel|geht gehen reise fahrt|aller voyage|ir viaje
stay stays sleep sleeps|bleibt schlafen schläft übernachten übernachtung|reste dormir dort|queda dormir duerme
live lives|wohnt wohnen lebt|habite vit|vive
work works|arbeit arbeitet|travail travaille|trabajo trabaja
call called name|heißt name|appelle nom|llama nombre
build built|gebaut baut erbaut|construit construite|construido construyó
make makes made|gemacht macht hergestellt|fait fabriqué|hecho hizo
write writes wrote|schreibt schrieb geschrieben|écrit écrire|escribe escribió
eat eats food meal|essen isst speisen|manger repas|comer comida
drink drinks|trinken getränk|boire boisson|beber bebida
cook|koch kochen|cuisinier cuire|cocinero cocer
sing sings singer singers choir|singen singt sänger chor|chanter chorale chanteurs|cantar coro
play plays|spielen spielt|jouer joue|jugar juega
buy bought|kaufen gekauft|acheter acheté|comprar compró
sell sold|verkaufen verkauft|vendre vendu|vender vendido
bring brings|bringen bringt mitbringen|apporter|traer
give gives given|geben gibt|donner donne|dar da
get gets receive receives|bekommt erhält|reçoit obtient|recibe
take takes|nimmt nehmen dauert|prend prendre dure|toma tomar dura
need needs|braucht brauchen nötig|besoin faut|necesita falta
repair repaired|reparatur repariert|réparation réparé|reparación reparado
service maintenance|wartung gewartet|entretien maintenance|mantenimiento revisión
check checked test|prüfen geprüft prüfung|contrôle vérifier|revisión comprobar
clean|reinigen gereinigt sauber putzen|nettoyer propre|limpiar limpio
lend lent borrow|leihen geliehen ausleihen|prêter prêté emprunter|prestar prestado
lose lost|verloren verlieren|perdu perdre|perdido perder
find found|finden gefunden|trouver trouvé|encontrar encontrado
keep kept store|aufbewahrt lagern liegt|garder rangé|guardar guardado
hide hidden|versteckt verstecken|caché cacher|esconder escondido
lie lies|liegt|trouve|está
rest rests|ruhen ruht ziehen|reposer repos|reposar
wash washing laundry|waschen wäsche waschküche|laver linge lessive|lavar lavandería
heat heating|heizung heizen|chauffage|calefacción
boiler|kessel heizkessel|chaudière|caldera
smoke|rauch abgas|fumée fumées|humo
temperature|temperatur|température|temperatura
high height tall|hoch höhe|haut hauteur mesure|alto altura mide
long length|lang länge|long longueur|largo longitud
wide width|breit breite|large largeur|ancho
deep depth|tief tiefe|profond profondeur|profundo
heavy weigh weighs weight|schwer wiegt gewicht|lourd pèse poids|pesa peso pesado
big large size|groß größe|grand taille|grande tamaño
small|klein|petit|pequeño
old age|alt alter|vieux âge|viejo edad
new|neu|nouveau neuf|nuevo
birthday|geburtstag|anniversaire|cumpleaños
born|geboren|né née|nació nacido
die died dead|gestorben starb tot|mort morte décédé|murió muerto
wedding marry married|hochzeit heiraten verheiratet|mariage marié|boda casado
party feast festival|fest feier|fête|fiesta
holiday holidays|ferien urlaub feiertag|vacances|vacaciones
man men|mann männer|homme|hombre
woman women|frau frauen|femme|mujer
people persons|leute personen menschen|gens personnes|gente personas
child children|kind kinder|enfant enfants|niño niños
mother mum|mutter mama|mère maman|madre
father dad|vater papa|père papa|padre
brother|bruder|frère|hermano
sister|schwester|sœur|hermana
aunt|tante|tante|tía
uncle|onkel|oncle|tío
daughter|tochter|fille|hija
son|sohn|fils|hijo
friend|freund freundin|ami amie|amigo
neighbour|nachbar nachbarin|voisin voisine|vecino
guest guests visitor visitors|gast gäste besucher|invité visiteur visiteurs|huésped visitante visitantes
member members|mitglied mitglieder|membre membres|socio miembros
teacher|lehrer lehrerin|professeur maître|maestro profesor
doctor|arzt ärztin|médecin docteur|médico
master|meister|maître|maestro
captain|kapitän hafenmeister|capitaine|capitán
chair chairman president|vorsitz vorsitzende vorsitzender|président présidente|presidente
treasurer|kassier kassenwart schatzmeister|trésorier trésorière|tesorero
owner landlord host|besitzer eigentümer vermieter wirt|propriétaire hôte|dueño propietario
contact|ansprechpartner kontakt|contact|contacto
house home|haus|maison|casa
flat apartment|wohnung|appartement|piso
room rooms|zimmer raum|chambre salle pièce|habitación sala
kitchen|küche|cuisine|cocina
cellar basement vault|keller|cave|sótano bodega
roof|dach|toit|tejado
door|tür|porte|puerta
window|fenster|fenêtre|ventana
stairs steps|treppe stufen|escalier marches|escalera
garden|garten|jardin|jardín
yard|hof werft|cour chantier|patio astillero
hall|halle saal|salle halle|sala nave
key keys|schlüssel|clé clés clef|llave llaves
code|code|code|código
bed beds|bett betten|lit lits|cama
table|tisch|table|mesa
stand stall|stand standgebühr|stand|puesto
lamp light|lampe licht|lampe lumière|lámpara luz
tower|turm|tour|torre
lighthouse|leuchtturm|phare|faro
bridge|brücke|pont|puente
church|kirche|église|iglesia
school|schule|école|escuela
museum|museum|musée|museo
library|bibliothek bücherei|bibliothèque|biblioteca
hostel|jugendherberge herberge|auberge|albergue
hotel inn|hotel gasthof|hôtel auberge|hotel posada
shop|laden geschäft|magasin boutique|tienda
bakery baker|bäckerei bäcker|boulangerie boulanger|panadería
market fair|markt börse messe|marché foire|mercado feria
town city|stadt|ville|ciudad
village|dorf|village|pueblo
street road|straße|rue route|calle
place|platz ort|place lieu|plaza lugar
address|adresse anschrift|adresse|dirección
phone telephone|telefon|téléphone|teléfono
number|nummer zahl|numéro nombre|número
letter|brief|lettre|carta
book|buch|livre|libro
picture|bild|image tableau|cuadro imagen
ticket|karte fahrkarte|billet|billete
coach bus|bus reisebus|car bus|autobús autocar
car|auto wagen|voiture|coche
train|zug bahn|train|tren
station|bahnhof|gare|estación
bicycle bike|fahrrad rad|vélo bicyclette|bicicleta
boat ship|boot schiff|bateau|barco
harbour port|hafen|port|puerto
berth mooring|liegeplatz stellplatz|place mouillage|amarre
mast|mast|mât|mástil
sail|segel|voile|vela
engine motor|motor|moteur|motor
clock watch|uhr|horloge montre|reloj
machine|maschine|machine|máquina
water|wasser|eau|agua
river|fluss|rivière fleuve|río
lake|see|lac|lago
sea|meer|mer|mar
mountain|berg|montagne|montaña
forest|wald|forêt|bosque
weather|wetter|temps|tiempo
rain rains|regen regnet|pluie pleut|lluvia llueve
snow|schnee|neige|nieve
dog|hund|chien chienne|perro
cat|katze kater|chat chatte|gato
horse|pferd|cheval|caballo
bird|vogel|oiseau|pájaro
goose gander|gans gänserich|oie jars|ganso
cow|kuh|vache|vaca
hen chicken|huhn hühner|poule poulet|gallina pollo
tree|baum|arbre|árbol
flower|blume|fleur|flor
bread|brot|pain|pan
cheese|käse|fromage|queso
milk|milch|lait|leche
egg eggs|ei eier|œuf œufs|huevo huevos
meat|fleisch|viande|carne
fish|fisch|poisson|pescado
fruit|obst früchte|fruits|fruta
apple|apfel äpfel|pomme|manzana
plum plums|pflaume pflaumen mirabellen|prune prunes mirabelles|ciruela ciruelas
jam|marmelade konfitüre|confiture|mermelada
sugar|zucker|sucre|azúcar
salt|salz|sel|sal
flour|mehl|farine|harina
cake|kuchen|gâteau|pastel
soup|suppe|soupe|sopa
wine|wein|vin|vino
beer|bier|bière|cerveza
coffee|kaffee|café|café
tea|tee|thé|té
breakfast|frühstück|déjeuner|desayuno
lunch|mittagessen|déjeuner|almuerzo
dinner supper|abendessen|dîner souper|cena
medicine tablet pill|medikament tablette|médicament comprimé|pastilla medicina
concert|konzert|concert|concierto
programme|programm|programme|programa
song piece|lied stück|chanson morceau|canción pieza
course lesson|kurs unterricht|cours leçon|curso clase
rule rules|regel regeln|règle règles|regla reglas
contract agreement|vertrag|contrat|contrato
insurance insure|versicherung versichert|assurance assuré|seguro
guarantee|garantie|garantie|garantía
tool tools|werkzeug|outil outils|herramienta
paint colour|farbe|peinture couleur|pintura color
wood|holz|bois|madera
stone|stein|pierre|piedra
hour hours|stunde stunden uhr|heure heures|hora horas
minute minutes|minute minuten|minute minutes|minuto minutos
day days|tag tage|jour jours|día días
night|nacht|nuit|noche
morning|morgen vormittag früh|matin|mañana
evening|abend|soir soirée|tarde
week|woche|semaine|semana
month|monat|mois|mes
year years|jahr jahre|an année ans|año años
"""


_ASKS = {
    "de": "um wie viel uhr=what time|wie viele=how many|wie viel=how much|wie lange=how long|wie=how|wann=when|"
    "wo=where|wer=who|was=what|welche=which|welcher=which|welches=which|welchem=which|wem=who|wen=who|ist=is|war=was|hat=|"
    "hatte=|haben=|wurde=",
    "fr": "à quelle heure=what time|combien de=how many|combien=how much|quand=when|où=where|qui=who|quel=what|"
    "quelle=what|quels=which|quelles=which|comment=how|que=what|était=was|est=is|a=|ont=|à=|en=",
    "es": "a qué hora=what time|cuántos=how many|cuántas=how many|cuánto=how much|cuánta=how much|cuándo=when|"
    "dónde=where|quién=who|qué=what|cuál=which|cómo=how|es=is|ha=|han=",
}
"""How questions open, and the English for it."""


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, str], dict[str, tuple[str, ...]]]:
    """Return, by a language and the stem of a word in it, its like in each of the languages, the usual one first."""
    out: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
    for row in _ROWS.strip().splitlines():
        columns = dict(zip(_COLUMNS, (tuple(c.split()) for c in row.split("|")), strict=True))
        for own, said in columns.items():
            for t in dict.fromkeys(t for w in said for t in terms(w)):
                held = out.setdefault((own, t), {})
                for other, theirs in columns.items():
                    held[other] = (*held.get(other, ()), *theirs)
    return out


def in_english(stems: Iterable[str], language: str) -> frozenset[str]:
    """Return the stems of the English words that stand for words of another language."""
    if language not in TAUGHT:
        return frozenset()
    return frozenset(t for s in stems for w in _table().get((language, s), {}).get("en", ()) for t in terms(w))


def asked_abroad(question: str, languages: Iterable[str]) -> str:
    """Return the words of other languages for an English question, with its names and numbers; "" for none."""
    rows = [_table().get(("en", t), {}) for t in content_terms(question)]
    found = [w for code in languages if code in TAUGHT for row in rows for w in row.get(code, ())]
    kept = [w for n in names(question) for w in n.split()] + re.findall(r"\b\d+\b", question)
    return " ".join(dict.fromkeys([*found, *kept])) if found else ""


def translated(question: str, language: str) -> str:
    """Return a question of another language word by word in English; what is not known stays, what only joins goes."""
    said = question.strip(" ?？.")
    for form, english in (row.split("=") for row in _ASKS[language].split("|")):
        said = re.sub(rf"\b{form}\b", english, said, flags=re.I)
    out: list[str] = []
    for w in re.findall(r"[\w’'-]+", said):
        rows = [_table()[language, t]["en"] for t in terms(w) if (language, t) in _table()]
        if rows or w.lower() not in FUNCTION_WORDS[language] or w.lower() in FUNCTION_WORDS["en"]:
            out.append(rows[0][0] if rows else w)
    return f"{' '.join(out)}?" if out else question
