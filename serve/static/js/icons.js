// Line icons on a grid of 24, drawn for this page.

const SHAPES = {
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  menu: "M4 7h16M4 12h16M4 17h10",
  side: "M4 5h16v14H4zM9.500 5v14",
  send: "M12 19V5M5.500 11.500L12 5l6.500 6.500",
  stop: "M7 7h10v10H7z",
  clip: "M19 11.500l-7.300 7.300a4.600 4.600 0 0 1-6.500-6.500l8-8a3.100 3.100 0 0 1 4.400 4.400l-7.900 7.900a1.500 1.500 0 0 1-2.200-2.200l7-7",
  globe: "M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18M3 12h18M12 3c5 5 5 13 0 18c-5-5-5-13 0-18",
  sliders: "M4 8h9M17 8h3M4 16h3M11 16h9M15 6v4M9 14v4",
  books: "M5 4h4v16H5zM9 7h4v13H9zM14 7.500l3.800-1L21 18.600l-3.800 1z",
  files: "M8 3h7l5 5v10H8zM15 3v5h5M16 21H4V8",
  file: "M6 3h8l5 5v13H6zM14 3v5h5M9 13h7M9 17h5",
  page: "M6 3h8l5 5v13H6zM14 3v5h5M9 12h7v5H9z",
  picture: "M4 5h16v14H4zM4 16l5-5 4 4 2.500-2.500L20 17M15.500 9.500h.01",
  video: "M4 6h16v12H4zM10 9.500v5l4.500-2.500z",
  audio: "M5 10v4M9 7v10M13 4v16M17 8v8M21 11v2",
  spark: "M12 4l1.800 5.200L19 11l-5.200 1.800L12 18l-1.800-5.200L5 11l5.200-1.800zM19 17v3M17.500 18.500h3",
  pen: "M5 19l1-4L16.500 4.500l3 3L9 18zM14 7l3 3",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.500 11v5M13.500 11v5",
  check: "M5 12.500l4.500 4.500L19 7.500",
  alert: "M12 4l9 16H3zM12 10v4.500M12 17.300h.01",
  question: "M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18M9.500 9.500a2.500 2.500 0 1 1 3.500 2.300c-.7.300-1 .8-1 1.700M12 16.500h.01",
  info: "M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18M12 11v5.500M12 7.700h.01",
  auto: "M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18M12 3v18M12 8h6.500M12 13h8.700M12 18h5.500",
  keys: "M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M8 14h8",
  out: "M14 5h5v5M19 5l-9 9M17 13v6H5V7h6",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  up: "M7 10v9H4v-9zM7 18c4 1.500 10 1.500 11-1l1.500-5c.500-1.500-.500-2.500-2-2.500h-4c.500-2.500.500-5-1-5.500c-1.500-.300-1.300 2.500-2 3.500L7 10.500",
  thumbdown: "M7 14V5H4v9zM7 6c4-1.500 10-1.500 11 1l1.500 5c.500 1.500-.500 2.500-2 2.500h-4c.500 2.500.500 5-1 5.500c-1.500.300-1.300-2.500-2-3.500L7 13.500",
  pin: "M9 4h6l-1 6 3 3H7l3-3zM12 13v7",
  again: "M19 12a7 7 0 1 1-2.500-5.400M19 4v4h-4",
  down: "M6 9.500l6 6 6-6",
  left: "M14.500 6l-6 6 6 6",
  right: "M9.500 6l6 6-6 6",
  play: "M8 5.500v13l11-6.500z",
  upload: "M12 16V5M7 9.500L12 5l5 4.500M5 16v4h14v-4",
  steps: "M6 5.500h.01M6 12h.01M6 18.500h.01M10.500 5.500H20M10.500 12H20M10.500 18.500h6",
  link: "M10 14a4 4 0 0 0 5.700 0l3-3a4 4 0 0 0-5.700-5.700l-1.200 1.200M14 10a4 4 0 0 0-5.700 0l-3 3a4 4 0 0 0 5.700 5.700l1.200-1.200",
  leave: "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
};

/** Draw an icon; it is hidden from screen readers, whatever holds it says what it means. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SHAPES[name]);
  svg.append(path);
  return svg;
}

/** Name of the icon of what a citation opens, or of a kind of file. */
export function iconOf(kind) {
  if (["page", "pdf"].includes(kind)) return "page";
  if (["image", "picture", "png", "jpeg", "jpg", "gif", "webp"].includes(kind)) return "picture";
  if (["time", "video", "clip", "mp4", "webm", "mov", "mkv"].includes(kind)) return "video";
  if (["audio", "transcript", "mp3", "wav", "ogg", "flac", "m4a"].includes(kind)) return "audio";
  if (["url", "web"].includes(kind)) return "globe";
  return "file";
}
